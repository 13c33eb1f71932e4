//! The runtimes of commands, whose threads can handle deeply nested input.

use std::io;

use formats::depth;
use tokio::runtime::{Builder, Runtime};

/// A runtime with two threads.
pub(crate) fn multi_thread() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).thread_stack_size(depth::STACK).enable_all().build()
}
