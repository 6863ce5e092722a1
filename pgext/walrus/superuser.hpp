#pragma once

#include "postgres_api.hpp"

namespace sluice::walrus {

// Calls `function` with a superuser's rights, once the caller's own right was looked at. An ERROR ends the
// transaction, and PostgreSQL gives the caller's rights back with it.
template <class Function>
void as_superuser(Function function) {
    Oid user = InvalidOid;
    int context = 0;
    GetUserIdAndSecContext(&user, &context);
    SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID, context | SECURITY_LOCAL_USERID_CHANGE);
    function();
    SetUserIdAndSecContext(user, context);
}

}  // namespace sluice::walrus
