//! Runs the steps of a flow: each as soon as those that it waits for have ended, and tells about every change.

use controller::CancellationToken;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};

use super::error::{FlowError, StepError};
use super::flow_state::{FlowProgress, FlowState};
use super::retry::{self, Attempt};
use crate::flow::FlowStep;

/// What the steps of a flow do, and who is told about its progress.
pub(super) trait FlowTasks: Sync {
    /// Does what a step is for, once.
    fn run(&self, step: &'static FlowStep) -> BoxFuture<'_, Result<(), StepError>>;

    /// Tells about the progress.
    fn report(&self, progress: FlowProgress) -> BoxFuture<'_, ()>;
}

/// A step that has ended, with its result.
type EndedStep = (&'static FlowStep, Result<(), StepError>);

/// Runs a flow to its end: after a failure, too, everything runs that does not wait for the step that failed. Once `stop` is
/// cancelled, running steps are dropped.
///
/// # Errors
/// Those of all steps that failed, or that it was stopped.
pub(super) async fn run<T: FlowTasks>(
    mut state: FlowState,
    tasks: &T,
    stop: &CancellationToken,
) -> Result<(), FlowError> {
    let mut running = FuturesUnordered::new();
    tasks.report(state.progress()).await;
    begin(&mut state, tasks, &running);
    tasks.report(state.progress()).await;
    while state.is_running() {
        let ended = stop.run_until_cancelled(running.next()).await;
        let Some(Some((begun, result))) = ended else { return Err(FlowError::Stopped) };
        let error = result.err().map(|error| error.text());
        if let Some(error) = &error {
            tracing::error!(step = begun.name, error, "Step failed");
        } else {
            tracing::info!(step = begun.name, "Step succeeded");
        }
        state.end(begun, error.as_deref());
        begin(&mut state, tasks, &running);
        tasks.report(state.progress()).await;
    }
    state.result().map_err(FlowError::Failed)
}

fn begin<'a, T: FlowTasks>(
    state: &mut FlowState,
    tasks: &'a T,
    running: &FuturesUnordered<BoxFuture<'a, EndedStep>>,
) {
    for step in state.begin() {
        running.push(async move { (step, attempt(tasks, step).await) }.boxed());
    }
}

/// A step with the attempts that the flow gives it.
async fn attempt<T: FlowTasks>(tasks: &T, step: &'static FlowStep) -> Result<(), StepError> {
    let Some(retry) = step.retry else { return tasks.run(step).await };
    let once = || async move {
        match tasks.run(step).await {
            Ok(()) => Attempt::Done,
            Err(error) => Attempt::Again(error.text()),
        }
    };
    retry::until(retry.every, Some(retry.within), once).await
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;
    use std::time::Duration;

    use api::operator::Garden;
    use serde_json::json;
    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::flow::{Flow, FlowCondition, FlowRetry};

    const RETRY: FlowRetry = FlowRetry { every: Duration::from_secs(5), within: Duration::from_secs(12) };
    const STEPS: &[FlowStep] = &[
        FlowStep { name: "a", after: &[], when: FlowCondition::Always, retry: None },
        FlowStep { name: "b", after: &[], when: FlowCondition::Always, retry: Some(RETRY) },
        FlowStep { name: "c", after: &["a"], when: FlowCondition::Always, retry: None },
        FlowStep { name: "d", after: &["b", "c"], when: FlowCondition::Always, retry: None },
    ];

    /// Each step takes a second, and fails as often as it says here.
    struct Recorder {
        failures: Mutex<BTreeMap<&'static str, u32>>,
        log: Mutex<Vec<String>>,
        begin: Instant,
    }

    impl Recorder {
        fn failing<const N: usize>(failures: [(&'static str, u32); N]) -> Self {
            Self { failures: Mutex::new(failures.into()), log: Mutex::default(), begin: Instant::now() }
        }

        fn write(&self, text: &str) {
            self.log.lock().unwrap().push(format!("{}s {text}", self.begin.elapsed().as_secs()));
        }

        fn log(self) -> Vec<String> {
            self.log.into_inner().unwrap()
        }

        fn fails(&self, step: &str) -> bool {
            let mut failures = self.failures.lock().unwrap();
            let Some(left) = failures.get_mut(step).filter(|left| **left > 0) else { return false };
            *left -= 1;
            true
        }
    }

    impl FlowTasks for Recorder {
        fn run(&self, step: &'static FlowStep) -> BoxFuture<'_, Result<(), StepError>> {
            async move {
                sleep(Duration::from_secs(1)).await;
                if self.fails(step.name) { Err(StepError::State("no".to_owned())) } else { Ok(()) }
            }
            .boxed()
        }

        fn report(&self, progress: FlowProgress) -> BoxFuture<'_, ()> {
            self.write(&format!("{}% {}", progress.percent, progress.description));
            std::future::ready(()).boxed()
        }
    }

    async fn run_flow(tasks: &Recorder, stop: &CancellationToken) -> Result<(), FlowError> {
        let garden: Garden = serde_json::from_value(json!({})).unwrap();
        run(FlowState::new(&Flow::new("flow", STEPS), &garden, false), tasks, stop).await
    }

    #[tokio::test(start_paused = true)]
    async fn steps_run_side_by_side_and_failures_are_tried_again() {
        let tasks = Recorder::failing([("b", 1)]);
        assert_eq!(run_flow(&tasks, &CancellationToken::new()).await, Ok(()));
        let want = [
            "0s 0% Starting flow",
            "0s 0% Starting flow",
            "1s 25% b, c",
            "2s 50% b",
            "7s 75% d",
            "8s 100% flow finished",
        ];
        assert_eq!(tasks.log(), want);
    }

    #[tokio::test(start_paused = true)]
    async fn errors_are_joined() {
        let tasks = Recorder::failing([("a", 1), ("b", 9)]);
        let error = run_flow(&tasks, &CancellationToken::new()).await.unwrap_err();
        let want = "2 errors occurred:\n\t* task \"a\" failed: no\n\t* task \"b\" failed: retry failed with context \
                    deadline exceeded, last error: no\n\n";
        assert_eq!(error.to_string(), want);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_drops_what_runs() {
        let (tasks, stop) = (Recorder::failing([]), CancellationToken::new());
        stop.cancel();
        assert_eq!(run_flow(&tasks, &stop).await, Err(FlowError::Stopped));
        assert_eq!(tasks.begin.elapsed(), Duration::ZERO);
    }
}
