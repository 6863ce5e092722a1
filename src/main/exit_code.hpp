#pragma once

namespace sluice {

// What the process tells its caller.
enum class ExitCode : int {
    Ok = 0,
    Failed = 1,       // The server refused, or an operation failed.
    Usage = 2,        // The command line, a variable or the settings file is wrong.
    Unreachable = 3,  // No server answered.
    Denied = 4,       // A check was answered: no. Or a message was refused: the window is full.
};

}  // namespace sluice
