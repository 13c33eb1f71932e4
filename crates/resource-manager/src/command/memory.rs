//! How memory that was freed goes back to the operating system.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The allocator reads it before anything else of a program runs.
const DELAY: &str = "MIMALLOC_PURGE_DELAY";

/// Has the allocator give back at once what was freed: begins the program anew with `MIMALLOC_PURGE_DELAY=0`, unless the environment has it.
///
/// Otherwise it does so on occasion, when it is asked for memory, and what a ManagedResource of 1,000 objects needed for a
/// moment stays with a program that has nothing to do any more. Process, arguments and environment stay as they are; where
/// a program cannot be begun anew, it goes on as it is.
pub fn give_back_at_once() {
    if std::env::var_os(DELAY).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let mut arguments = std::env::args_os();
    let mut again = Command::new(program);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    // It returns only if it fails, and nothing is lost then but memory.
    let _ = again.args(arguments).env(DELAY, "0").exec();
}
