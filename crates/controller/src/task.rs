//! Tasks that the leader does once when its process starts, beside its controllers.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::time::Duration;

use futures::future::{BoxFuture, try_join_all};
use futures::{FutureExt as _, TryFutureExt as _};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::controller::Controller;
use crate::controllers::{Controllers, ControllersError};
use crate::reconcile::describe_error;

/// How long controllers may take to end after a task has failed.
const PATIENCE: Duration = Duration::from_secs(4);

/// Work that is done once, within its deadline. Controllers do not wait for it; its failure ends them.
pub struct Task {
    name: &'static str,
    deadline: Duration,
    work: BoxFuture<'static, Result<(), String>>,
}

/// Why the work of a leader ended.
#[derive(Debug, thiserror::Error)]
pub enum LeaderWorkError {
    /// The controllers failed.
    #[error(transparent)]
    Controllers(#[from] ControllersError),
    /// A task failed, with all its causes.
    #[error("{0}")]
    Task(String),
    /// A task took too long.
    #[error("the {name} did not end within {deadline:?}")]
    Deadline {
        /// Its name.
        name: &'static str,
        /// How long it may take.
        deadline: Duration,
    },
}

impl Task {
    /// A task of this name; the name is the one in contracts.
    pub fn new<E: Error + 'static>(
        name: &'static str,
        deadline: Duration,
        work: impl Future<Output = Result<(), E>> + Send + 'static,
    ) -> Self {
        Self { name, deadline, work: work.map_err(|error| describe_error(&error)).boxed() }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    async fn run(self) -> Result<(), LeaderWorkError> {
        let Self { name, deadline, work } = self;
        let ended = timeout(deadline, work).await;
        ended.map_err(|_elapsed| LeaderWorkError::Deadline { name, deadline })?.map_err(LeaderWorkError::Task)
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("name", &self.name)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

/// Runs controllers until `stop` is cancelled, and at the same time each task once.
///
/// # Errors
/// The first failure of a task or a controller; the others are stopped first, and given up after four seconds.
pub async fn run_beside(
    controllers: (&Controllers, Vec<Controller>),
    tasks: Vec<Task>,
    stop: CancellationToken,
) -> Result<(), LeaderWorkError> {
    let (stop, (running, controllers)) = (stop.child_token(), controllers);
    let mut controlled = std::pin::pin!(running.run(controllers, stop.clone()));
    let done = try_join_all(tasks.into_iter().map(Task::run));
    let mut done = std::pin::pin!(stop.run_until_cancelled(done));
    tokio::select! {
        ended = &mut controlled => return Ok(ended?),
        done = &mut done => if let Some(Err(error)) = done {
            stop.cancel();
            let _ended = timeout(PATIENCE, controlled).await;
            return Err(error);
        }
    }
    Ok(controlled.await?)
}
