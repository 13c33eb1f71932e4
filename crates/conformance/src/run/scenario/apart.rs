//! Work in a thread and a runtime of its own: a target that never yields is left behind with them.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use super::steps::Ended;
use super::watchdog::{Lost, Watchdog};
use crate::run::Interrupt;

/// How time passes there.
pub(in crate::run) struct Apart<'a> {
    /// Whether it passes by itself; else it stands still while anybody works.
    pub(in crate::run) real_time: bool,
    /// Real time that is waited by intent.
    pub(in crate::run) waits: Duration,
    /// Whether what it stands on has ended.
    pub(in crate::run) is_gone: &'a dyn Fn() -> bool,
}

/// Does something, such as a case, that is known by its id. What is done hears a bark when real time is over, and then gives
/// nothing.
pub(in crate::run) fn apart<T, F>(
    interrupt: &Interrupt,
    id: &str,
    place: &Apart<'_>,
    work: impl FnOnce(Arc<Notify>) -> F + Send + 'static,
) -> Result<T, Ended>
where
    T: Send + 'static,
    F: Future<Output = Result<Option<T>, Ended>>,
{
    let watchdog = Watchdog::new(place.waits);
    let (bark, heard) = (watchdog.bark(), interrupt.clone());
    let (tell, told) = channel();
    let real_time = place.real_time;
    let play = move || {
        let watched = async {
            tokio::select! {
                outcome = work(bark) => outcome.transpose(),
                _ = heard.wait() => Some(Err(Ended::Interrupted)),
            }
        };
        let played = runtime(real_time).map(|runtime| runtime.block_on(watched));
        // Nobody listens to what was left behind.
        let _ = tell.send(played);
    };
    let started = std::thread::Builder::new().name("scenario".to_owned()).spawn(play);
    let unstarted =
        |error: std::io::Error| Ended::Environment(format!("failed to start a scenario: {error}"));
    started.map_err(unstarted)?;
    match watchdog.watch(&told, interrupt, place.is_gone) {
        Ok(played) => played.map_err(unstarted)?.unwrap_or_else(|| Err(late(id, &watchdog))),
        Err(Lost::Interrupted) => Err(Ended::Interrupted),
        Err(Lost::Late) => Err(late(id, &watchdog)),
        Err(Lost::Silent) => {
            Err(Ended::Environment(format!("{id} ended in a panic, which standard error tells")))
        }
    }
}

fn late(id: &str, watchdog: &Watchdog) -> Ended {
    let seconds = watchdog.patience().as_secs();
    let why = "the target spins, or time stands still";
    Ended::Environment(format!("{id} did not end within {seconds} s: {why}"))
}

/// Virtual time stands still while anybody works.
fn runtime(real_time: bool) -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().start_paused(!real_time).build()
}
