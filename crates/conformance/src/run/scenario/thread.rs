//! Runs work in a separate thread and runtime: if a target never yields, its thread is abandoned.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use super::steps::ScenarioEnd;
use super::watchdog::{Watchdog, WatchdogError};
use crate::run::Interrupt;

/// How time passes in the thread.
pub(crate) struct ThreadOptions<'a> {
    /// Whether the clock is the real one; a virtual clock does not advance while a task works.
    pub(crate) real_time: bool,
    /// Real time that the work spends waiting.
    pub(crate) waits: Duration,
    /// Whether the substrate has failed.
    pub(crate) is_failed: &'a dyn Fn() -> bool,
}

/// Runs work, such as a case, with an id for error messages. After the timeout, the work gets a notification to abort, and then
/// returns `None`.
pub(crate) fn run_in_thread<T, F>(
    interrupt: &Interrupt,
    id: &str,
    options: &ThreadOptions<'_>,
    work: impl FnOnce(Arc<Notify>) -> F + Send + 'static,
) -> Result<T, ScenarioEnd>
where
    T: Send + 'static,
    F: Future<Output = Result<Option<T>, ScenarioEnd>>,
{
    let watchdog = Watchdog::new(options.waits);
    let (abort, interrupted) = (watchdog.abort_signal(), interrupt.clone());
    let (sender, receiver) = channel();
    let real_time = options.real_time;
    let play = move || {
        let watched = async {
            tokio::select! {
                outcome = work(abort) => outcome.transpose(),
                _ = interrupted.wait() => Some(Err(ScenarioEnd::Interrupted)),
            }
        };
        let played = runtime(real_time).map(|runtime| runtime.block_on(watched));
        // The receiver of an abandoned thread is gone.
        let _ = sender.send(played);
    };
    let started =
        std::thread::Builder::new().name("scenario".to_owned()).stack_size(formats::depth::STACK).spawn(play);
    let start_error =
        |error: std::io::Error| ScenarioEnd::Environment(format!("failed to start a scenario: {error}"));
    started.map_err(start_error)?;
    match watchdog.watch(&receiver, interrupt, options.is_failed) {
        Ok(played) => played.map_err(start_error)?.unwrap_or_else(|| Err(timeout_error(id, &watchdog))),
        Err(WatchdogError::Interrupted) => Err(ScenarioEnd::Interrupted),
        Err(WatchdogError::Late) => Err(timeout_error(id, &watchdog)),
        Err(WatchdogError::Panicked) => {
            Err(ScenarioEnd::Environment(format!("{id} panicked; see standard error")))
        }
    }
}

fn timeout_error(id: &str, watchdog: &Watchdog) -> ScenarioEnd {
    let seconds = watchdog.patience().as_secs();
    let why = "the target loops without yielding, or waits in virtual time that does not advance";
    ScenarioEnd::Environment(format!("{id} did not end within {seconds} s: {why}"))
}

/// Virtual time does not advance while a task works.
fn runtime(real_time: bool) -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().start_paused(!real_time).build()
}
