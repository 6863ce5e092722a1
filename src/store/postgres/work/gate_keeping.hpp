#pragma once

#include "app/dispatch/work_store.hpp"
#include "store/postgres/client/patient_caller.hpp"

// Who keeps the gates of all nodes, and the permits that it gave to others.
namespace sluice::postgres {

Result<std::optional<Keeping>, Failure> keep_gates(PatientCaller& caller, const std::string& node);
Result<Rows, Failure> let_gates_go(PatientCaller& caller, Fence fence);

// False: the fence is not in force.
Result<bool, Failure> note_outside_permits(Connection& connection, Fence fence,
                                           std::span<const OutsidePermit> permits);
Result<Rows, Failure> drop_outside_permits(PatientCaller& caller, std::span<const std::string> ids);
Result<std::vector<OutsidePermit>, Failure> list_outside_permits(PatientCaller& caller);

}  // namespace sluice::postgres
