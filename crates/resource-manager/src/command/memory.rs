//! Returns freed memory to the operating system.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The allocator reads this variable before anything else in the program runs.
const DELAY: &str = "MIMALLOC_PURGE_DELAY";

/// Makes the allocator return freed memory immediately: restarts the program with `MIMALLOC_PURGE_DELAY=0` unless the
/// variable is set.
///
/// By default the allocator only returns memory when the program allocates, so an idle program would keep the memory
/// that a ManagedResource of 1,000 objects needed for a moment. Process, arguments and environment stay; if the
/// restart fails, the program continues.
pub fn return_freed_memory_immediately() {
    if std::env::var_os(DELAY).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let mut arguments = std::env::args_os();
    let mut again = Command::new(program);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    // `exec` returns only on failure, which costs nothing but memory.
    let _ = again.args(arguments).env(DELAY, "0").exec();
}
