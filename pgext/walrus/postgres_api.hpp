#pragma once

// PostgreSQL's headers, in the order and the linkage they need. Their macros cast in the style of C and leave
// functions by longjmp: what includes this keeps only values with trivial destructors alive across a call.

extern "C" {
// clang-format off
#include <postgres.h>
#include <fmgr.h>
#include <miscadmin.h>
#include <pgstat.h>
#include <access/xact.h>
#include <access/xlog.h>
#include <catalog/namespace.h>
#include <catalog/pg_authid.h>
#include <catalog/pg_type.h>
#include <commands/async.h>
#include <commands/dbcommands.h>
#include <executor/spi.h>
#include <lib/stringinfo.h>
#include <nodes/makefuncs.h>
#include <nodes/parsenodes.h>
#include <port/atomics.h>
#include <postmaster/bgworker.h>
#include <postmaster/bgwriter.h>
#include <postmaster/interrupt.h>
#include <storage/ipc.h>
#include <storage/latch.h>
#include <storage/lwlock.h>
#include <storage/shmem.h>
#include <tcop/tcopprot.h>
#include <utils/acl.h>
#include <utils/builtins.h>
#include <utils/guc.h>
#include <utils/json.h>
#include <utils/jsonb.h>
#include <utils/lsyscache.h>
#include <utils/memutils.h>
#include <utils/snapmgr.h>
#include <utils/wait_event.h>
// clang-format on
}

#if PG_VERSION_NUM < 150000
#error "walrus needs PostgreSQL 15 or later"
#endif
