#pragma once

#include "app/dispatch/work_tables.hpp"
#include "store/rocks/client/batch.hpp"

namespace sluice::rocks {

// The tables of works beside those of slots: the slots write both in one batch, and know no more of them.
class WorkRows : public WorkTables {
public:
    // Must outlive the batch.
    virtual void add(Batch& batch, const WorkChanges& changes) const = 0;
};

}  // namespace sluice::rocks
