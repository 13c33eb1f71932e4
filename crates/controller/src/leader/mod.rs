//! Leader election by a Lease, as client-go has it: one of several instances works, another takes over when it stops
//! renewing.
//!
//! A lease counts as expired when nothing has written it for its duration, measured by the local clock since the last
//! observed change: clocks of different machines are never compared.

mod lock;
mod participation;
mod record;

use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use formats::exposition::{Family, Kind, Reading, Sample};
use jiff::Timestamp;
use kube::Client;
use tokio::time::{Instant, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::lock::Lock;
pub use self::participation::{elector, start};
use self::record::Record;
use crate::clock::Clock;
use crate::entropy::Entropy;
use crate::events::{EventType, Recorder, recorder};

/// Maximum factor by which the wait between two attempts to become leader is extended.
const JITTER: f64 = 1.2;
/// How long writing the last events may take.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long work may take to stop before the Lease is released anyway.
const PATIENCE: Duration = Duration::from_secs(4);

/// The Lease, the identity of this instance, and the times of an election.
#[derive(Clone, Debug)]
pub struct ElectionConfig {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Name of the Lease.
    pub name: String,
    /// This instance; different for every process. See [`identity`].
    pub identity: String,
    /// How long others wait after the leader's last renewal; whole seconds.
    pub lease_duration: Duration,
    /// How long a leader tries to renew before it gives up.
    pub renew_deadline: Duration,
    /// Time between two attempts.
    pub retry_period: Duration,
    /// Whether to release the Lease at the end, so that others need not wait.
    pub release_on_cancel: bool,
}

/// Why an instance does not lead, or no longer leads.
#[derive(Debug, thiserror::Error)]
pub enum ElectionError {
    /// The times contradict each other.
    #[error("{0}")]
    Config(&'static str),
    /// The Lease could not be renewed in time, or another instance holds it.
    #[error("leader election lost")]
    Lost,
    /// The leader's work failed.
    #[error("{0}")]
    Leading(#[source] Box<dyn Error + Send + Sync>),
}

/// `<host>_<uuid>`, different for every process.
#[must_use]
pub fn identity(host: &str, entropy: &Entropy) -> String {
    format!("{host}_{}", entropy.uuid())
}

/// Name of this machine or pod.
#[must_use]
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Takes part in an election.
#[derive(Clone)]
pub struct Elector {
    config: ElectionConfig,
    client: Client,
    clock: Clock,
    entropy: Entropy,
    leads: Arc<AtomicBool>,
}

impl std::fmt::Debug for Elector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Elector").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Elector {
    /// Takes part with a separate client, which no rate limit delays.
    ///
    /// # Errors
    /// When the times contradict each other.
    pub fn new(
        config: ElectionConfig,
        client: Client,
        clock: Clock,
        entropy: Entropy,
    ) -> Result<Self, ElectionError> {
        if config.lease_duration <= config.renew_deadline {
            return Err(ElectionError::Config("leaseDuration must be greater than renewDeadline"));
        }
        if config.renew_deadline <= config.retry_period.mul_f64(JITTER) {
            return Err(ElectionError::Config("renewDeadline must be greater than retryPeriod*JitterFactor"));
        }
        if config.retry_period.is_zero() {
            return Err(ElectionError::Config("retryPeriod must be greater than zero"));
        }
        Ok(Self { config, client, clock, entropy, leads: Arc::default() })
    }

    /// Returns `leader_election_master_status`; the collector also works after the elector is dropped.
    pub fn metrics(&self) -> impl Fn() -> Vec<Family> + Send + Sync + use<> {
        let (name, leads) = (self.config.name.clone(), self.leads.clone());
        move || {
            let leading = f64::from(u8::from(leads.load(Ordering::Relaxed)));
            let labels = vec![("name", name.clone())];
            vec![Family {
                name: "leader_election_master_status",
                help: "Whether this process leads by the lease of that name: 1 if it does, 0 if not.",
                kind: Kind::Gauge,
                samples: vec![Sample { labels, reading: Reading::Number(leading) }],
            }]
        }
    }

    /// Waits to become leader, then runs `work` until `stop` is cancelled; releases the Lease only after `work` has
    /// ended.
    ///
    /// `work` gets a token that is cancelled when it shall end; four seconds later it is dropped, so that the others
    /// need not wait for it. When the Lease is lost it is dropped at once.
    ///
    /// # Errors
    /// When the Lease is lost, or `work` fails.
    pub async fn run<E, F>(
        self,
        stop: CancellationToken,
        work: impl FnOnce(CancellationToken) -> F,
    ) -> Result<(), ElectionError>
    where
        E: Error + Send + Sync + 'static,
        F: Future<Output = Result<(), E>>,
    {
        let identity = self.config.identity.clone();
        let (recorder, writer) = recorder(self.client.clone(), &identity, self.clock, self.entropy.clone());
        let leads = self.leads.clone();
        let mut candidate = Candidate::new(self, recorder);
        let mut writing = Box::pin(writer.run(CancellationToken::new()));
        let elected = Box::pin(async move {
            let outcome = candidate.run(stop, work).await;
            // Drops the recorder, so that the writer can end.
            drop(candidate);
            outcome
        });
        let outcome = tokio::select! {
            outcome = elected => outcome,
            () = &mut writing => unreachable!("events are written as long as somebody records them"),
        };
        leads.store(false, Ordering::Relaxed);
        let _unwritten = timeout(LAST_WORDS, writing).await;
        outcome
    }
}

/// The state of an instance in the election.
struct Candidate {
    elector: Elector,
    recorder: Recorder,
    lock: Lock,
    seen: Record,
    /// When this instance noticed the last change of the Lease.
    seen_at: Instant,
    reported: String,
}

impl Candidate {
    fn new(elector: Elector, recorder: Recorder) -> Self {
        let config = &elector.config;
        let lock = Lock::new(elector.client.clone(), &config.namespace, &config.name);
        let (seen, seen_at) = (Record::default(), Instant::now());
        Self { elector, recorder, lock, seen, seen_at, reported: String::new() }
    }

    async fn run<E, F>(
        &mut self,
        stop: CancellationToken,
        work: impl FnOnce(CancellationToken) -> F,
    ) -> Result<(), ElectionError>
    where
        E: Error + Send + Sync + 'static,
        F: Future<Output = Result<(), E>>,
    {
        if stop.run_until_cancelled(self.acquire()).await.is_none() {
            return Ok(());
        }
        let outcome = {
            let mut work = Box::pin(work(stop.clone()));
            let mut outcome = None;
            let mut renewed = Box::pin(self.renew());
            let mut overdue = Box::pin(async {
                stop.cancelled().await;
                sleep(PATIENCE).await;
            });
            loop {
                tokio::select! {
                    () = &mut renewed => break Err(ElectionError::Lost),
                    () = &mut overdue => {
                        tracing::warn!("work did not end within {PATIENCE:?}, it is given up");
                        break Ok(());
                    }
                    () = stop.cancelled(), if outcome.is_some() => break outcome.unwrap_or(Ok(())),
                    ended = &mut work, if outcome.is_none() => match ended {
                        Ok(()) => outcome = Some(Ok(())),
                        Err(error) => break Err(ElectionError::Leading(error.into())),
                    },
                }
            }
        };
        self.elector.leads.store(false, Ordering::Relaxed);
        if self.elector.config.release_on_cancel {
            self.release().await;
        }
        self.record_event("stopped leading");
        outcome
    }

    /// Tries until this instance leads.
    async fn acquire(&mut self) {
        let ElectionConfig { namespace, name, retry_period, renew_deadline, .. } =
            self.elector.config.clone();
        tracing::info!("attempting to acquire leader lease {namespace}/{name}...");
        // A hanging attempt must end as well.
        while !timeout(renew_deadline, self.attempt()).await.unwrap_or_default() {
            self.report();
            tracing::debug!("failed to acquire lease {namespace}/{name}");
            sleep(self.elector.entropy.jitter(retry_period, JITTER)).await;
        }
        self.report();
        self.record_event("became leader");
        self.elector.leads.store(true, Ordering::Relaxed);
        tracing::info!("successfully acquired lease {namespace}/{name}");
    }

    /// Renews until that fails for too long, or another instance leads.
    async fn renew(&mut self) {
        let ElectionConfig { namespace, name, retry_period, renew_deadline, .. } =
            self.elector.config.clone();
        loop {
            let renewed = timeout(renew_deadline, async {
                let mut tries = interval(retry_period);
                loop {
                    tries.tick().await;
                    if self.attempt().await {
                        return true;
                    }
                    // client-go retries until its deadline; an instance that has lost should not work alongside the new
                    // leader.
                    if self.is_held_by_other() {
                        return false;
                    }
                }
            });
            let renewed = renewed.await;
            self.report();
            let why = match renewed {
                Ok(true) => None,
                Ok(false) => Some("somebody else holds it"),
                Err(_elapsed) => Some("timed out waiting for the condition"),
            };
            if let Some(why) = why {
                tracing::info!("failed to renew lease {namespace}/{name}: {why}");
                return;
            }
            sleep(retry_period).await;
        }
    }

    /// Tries once to acquire or renew the Lease; returns whether this instance leads now.
    async fn attempt(&mut self) -> bool {
        let config = &self.elector.config;
        let lease = format!("{}/{}", config.namespace, config.name);
        let now = self.elector.clock.now();
        let mut wanted = self.record(now);
        let read = match self.lock.read().await {
            Ok(read) => read,
            Err(error) => {
                tracing::error!(%error, "error retrieving resource lock {lease}");
                return false;
            }
        };
        let written = if let Some(found) = read {
            self.observe(&found);
            if self.is_held_by_other() {
                tracing::debug!("lock is held by {} and has not yet expired", found.holder);
                return false;
            }
            if self.is_leader() {
                (wanted.acquired, wanted.transitions) = (found.acquired, found.transitions);
            } else {
                wanted.transitions = found.transitions.saturating_add(1);
            }
            self.lock.update(&wanted).await
        } else {
            self.lock.create(&wanted).await
        };
        match written {
            Ok(()) => {
                (self.seen, self.seen_at) = (wanted, Instant::now());
                true
            }
            Err(error) => {
                tracing::error!(%error, "Failed to update lock {lease}");
                false
            }
        }
    }

    fn record(&self, now: Timestamp) -> Record {
        let config = &self.elector.config;
        Record {
            holder: config.identity.clone(),
            seconds: i32::try_from(config.lease_duration.as_secs()).unwrap_or(i32::MAX),
            acquired: Some(now),
            renewed: Some(now),
            transitions: 0,
        }
    }

    /// Records when the Lease changed: the instance that writes it is alive.
    fn observe(&mut self, found: &Record) {
        if self.seen != *found {
            (self.seen, self.seen_at) = (found.clone(), Instant::now());
        }
    }

    /// Whether another instance holds the Lease and has renewed it in time.
    fn is_held_by_other(&self) -> bool {
        let silent = self.seen_at.elapsed();
        !self.seen.holder.is_empty() && !self.is_leader() && silent < self.seen.duration()
    }

    fn is_leader(&self) -> bool {
        self.seen.holder == self.elector.config.identity
    }

    /// Releases the Lease, so that others need not wait until it expires.
    async fn release(&mut self) {
        if !self.is_leader() {
            return;
        }
        let now = Some(self.elector.clock.now());
        let nobody = Record {
            holder: String::new(),
            seconds: 1,
            acquired: now,
            renewed: now,
            transitions: self.seen.transitions,
        };
        match timeout(self.elector.config.renew_deadline, self.write_release(&nobody)).await {
            Ok(Ok(())) => self.seen = nobody,
            Ok(Err(error)) => tracing::error!(%error, "Failed to release lock"),
            Err(_elapsed) => tracing::error!("Failed to release lock: no answer in time"),
        }
    }

    /// Writes the released Lease. If that fails, reads the Lease and tries again, because a renewal whose answer was lost
    /// has changed its version; not if another instance holds it by now.
    async fn write_release(&mut self, nobody: &Record) -> Result<(), kube::Error> {
        let Err(error) = self.lock.update(nobody).await else { return Ok(()) };
        match self.lock.read().await? {
            Some(found) if found.holder == self.elector.config.identity => self.lock.update(nobody).await,
            _ => Err(error),
        }
    }

    fn report(&mut self) {
        if self.seen.holder != self.reported {
            self.reported.clone_from(&self.seen.holder);
            tracing::info!(leader = self.reported, "new leader elected");
        }
    }

    fn record_event(&self, what: &str) {
        let message = format!("{} {what}", self.elector.config.identity);
        self.recorder.event_of(self.lock.reference(), EventType::Normal, "LeaderElection", &message);
    }
}
