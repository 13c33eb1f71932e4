//! A controller with a bug of choice: for each ConfigMap `src-x` it keeps a Secret `copy-x` with the same content and makes one
//! Secret `ticket-x-…`, and marks the ConfigMap as done.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt::Debug;
use std::time::Duration;

use component::{Clusters, StartOptions, Started};
use conformance::target::built_in::BuiltIn;
use controller::CancellationToken;
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::watcher::{self, Event};
use kube::{Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;
use webhook::service::{Limits, service};

/// A bug of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    /// It has none.
    None,
    /// It says that an object is done before it is, and believes that later.
    StatusFirst,
    /// It deletes only copies that it remembers to have made.
    TrustedMemory,
    /// It deletes copies without a source before it has read the sources.
    UnfilledCache,
    /// It ignores what a watch says after it had to list again.
    DeafAfterRelist,
    /// It does not try again.
    ForgottenRetry,
    /// It tries again once, and not if that fails, too.
    OneRetry,
    /// It counts tickets in a cache that may not have seen the last one.
    StaleCount,
    /// It deletes copies whose source is not in a list that may be old.
    OldList,
    /// It deletes copies whose source its cache does not have, as if the cache were never behind.
    TrustedCache,
    /// It goes on after it has lost its Lease.
    OldLeader,
}

/// How long it collects events before it acts.
const CALM: Duration = Duration::from_millis(10);
/// How long it waits before it tries again.
const RETRY: Duration = Duration::from_secs(1);

struct Abort(JoinHandle<()>);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The controller as a target.
pub(crate) fn target(bug: Bug) -> BuiltIn {
    BuiltIn::new("copier", "v1.0.0", BTreeSet::new(), move |options: StartOptions| {
        std::future::ready(options.clusters.ok_or_else(|| "no clusters".to_owned()).map(|clusters| {
            let task = tokio::spawn(lead(clusters, bug));
            Started {
                service: service(Vec::new(), Limits::default()),
                registrations: Vec::new(),
                metrics: Box::new(String::new),
                failure: Box::new(|| None),
                guard: Box::new(Abort(task)),
            }
        }))
    })
}

/// Runs the controller, while it leads if there is an election.
async fn lead(clusters: Clusters, bug: Bug) {
    let Clusters { source, elector, .. } = clusters;
    let Some(elector) = elector else { return run(source, bug).await };
    let work = |_stop: CancellationToken| async move {
        let work = run(source, bug);
        if bug == Bug::OldLeader {
            drop(tokio::spawn(work));
            std::future::pending::<()>().await;
        } else {
            work.await;
        }
        Ok::<(), Infallible>(())
    };
    // It ends when the Lease is lost.
    drop(elector.run(CancellationToken::new(), work).await);
}

/// What a watch said.
enum News {
    Source(Event<ConfigMap>),
    Secret(Event<Secret>),
}

/// The objects of a kind as the watch tells them.
struct Cache<K> {
    objects: BTreeMap<String, K>,
    listed: BTreeMap<String, K>,
    filled: bool,
}

struct Copier {
    bug: Bug,
    maps: Api<ConfigMap>,
    secrets: Api<Secret>,
    sources: Cache<ConfigMap>,
    made: Cache<Secret>,
    /// Copies that this process made.
    own: BTreeSet<String>,
    /// Versions of sources that were handled.
    handled: BTreeMap<String, Option<String>>,
}

async fn run(client: Client, bug: Bug) {
    let (sender, mut receiver) = unbounded_channel();
    let mut copier = Copier {
        bug,
        maps: Api::namespaced(client.clone(), "default"),
        secrets: Api::namespaced(client, "default"),
        sources: Cache::empty(),
        made: Cache::empty(),
        own: BTreeSet::new(),
        handled: BTreeMap::new(),
    };
    let mut watches = JoinSet::new();
    watches.spawn(forward(copier.secrets.clone(), sender.clone(), News::Secret));
    let maps = copier.maps.clone();
    watches.spawn(async move {
        if bug == Bug::UnfilledCache {
            sleep(CALM * 20).await;
        }
        forward(maps, sender, News::Source).await;
    });
    let (mut failed, mut failures) = (false, 0);
    loop {
        tokio::select! {
            news = receiver.recv() => match news {
                Some(news) => copier.apply(news),
                None => return,
            },
            () = sleep(RETRY), if failed => {}
        }
        sleep(CALM).await;
        while let Ok(news) = receiver.try_recv() {
            copier.apply(news);
        }
        if bug == Bug::UnfilledCache || (copier.sources.filled && copier.made.filled) {
            failures = if copier.pass().await.is_err() { failures + 1 } else { 0 };
            failed = match bug {
                Bug::ForgottenRetry => false,
                Bug::OneRetry => failures == 1,
                _ => failures > 0,
            };
        }
    }
}

/// Sends on what a watch says.
async fn forward<K>(api: Api<K>, sender: UnboundedSender<News>, wrap: fn(Event<K>) -> News)
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let mut events = std::pin::pin!(watcher::watcher(api, watcher::Config::default()));
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => {
                if sender.send(wrap(event)).is_err() {
                    return;
                }
            }
            Err(_) => sleep(CALM).await,
        }
    }
}

impl<K: ResourceExt> Cache<K> {
    fn empty() -> Self {
        Self { objects: BTreeMap::new(), listed: BTreeMap::new(), filled: false }
    }

    fn apply(&mut self, event: Event<K>, is_deaf: bool) {
        match event {
            Event::Init => self.listed.clear(),
            Event::InitApply(object) => drop(self.listed.insert(object.name_any(), object)),
            Event::InitDone if self.filled && is_deaf => {}
            Event::InitDone => {
                self.objects = std::mem::take(&mut self.listed);
                self.filled = true;
            }
            Event::Apply(object) => drop(self.objects.insert(object.name_any(), object)),
            Event::Delete(object) => drop(self.objects.remove(&object.name_any())),
        }
    }
}

impl Copier {
    fn apply(&mut self, news: News) {
        let is_deaf = self.bug == Bug::DeafAfterRelist;
        match news {
            News::Source(event) => self.sources.apply(event, is_deaf),
            News::Secret(event) => self.made.apply(event, is_deaf),
        }
    }

    /// Reconciles all sources, and removes copies without a source.
    async fn pass(&mut self) -> kube::Result<()> {
        for (name, source) in self.sources.objects.clone() {
            let version = source.resource_version();
            let before = self.handled.insert(name.clone(), version.clone());
            if self.bug == Bug::ForgottenRetry && before == Some(version) {
                continue;
            }
            self.reconcile(&name, &source).await?;
        }
        self.remove_orphans().await
    }

    async fn reconcile(&mut self, name: &str, source: &ConfigMap) -> kube::Result<()> {
        let Some(letter) = name.strip_prefix("src-") else { return Ok(()) };
        let value = source.data.as_ref().and_then(|data| data.get("v")).cloned().unwrap_or_default();
        let is_done = source.annotations().get("done") == Some(&value);
        let is_first = self.bug == Bug::StatusFirst;
        if is_first && is_done {
            return Ok(());
        }
        if is_first {
            self.mark(name, &value).await?;
        }
        self.ticket(letter).await?;
        self.copy(letter, &value).await?;
        if is_done || is_first { Ok(()) } else { self.mark(name, &value).await }
    }

    async fn mark(&self, name: &str, value: &str) -> kube::Result<()> {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {"done": value}}}));
        self.maps.patch(name, &PatchParams::default(), &patch).await.map(drop)
    }

    /// Makes one ticket for a source.
    async fn ticket(&self, letter: &str) -> kube::Result<()> {
        let is_of = |secret: &Secret| secret.labels().get("ticket").is_some_and(|of| of == letter);
        if self.made.objects.values().any(is_of) {
            return Ok(());
        }
        let there = ListParams::default().labels(&format!("ticket={letter}"));
        if self.bug != Bug::StaleCount && !self.secrets.list(&there).await?.items.is_empty() {
            return Ok(());
        }
        let metadata = json!({"generateName": format!("ticket-{letter}-"), "labels": {"ticket": letter}});
        self.create(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})).await
    }

    async fn copy(&mut self, letter: &str, value: &str) -> kube::Result<()> {
        let (name, data) = (format!("copy-{letter}"), json!({"v": value}));
        match self.made.objects.get(&name) {
            Some(there) if json!(there.data) == data => Ok(()),
            Some(_) => {
                let patch = Patch::Merge(json!({"data": data}));
                self.secrets.patch(&name, &PatchParams::default(), &patch).await.map(drop)
            }
            None => {
                let copy =
                    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data});
                self.create(&copy).await?;
                self.own.insert(name);
                Ok(())
            }
        }
    }

    async fn create(&self, object: &Value) -> kube::Result<()> {
        let secret: Secret = serde_json::from_value(object.clone()).expect("a Secret");
        self.secrets.create(&PostParams::default(), &secret).await.map(drop)
    }

    /// The names of the sources in a list that the server may answer from any earlier time.
    async fn old_list(&self) -> kube::Result<BTreeSet<String>> {
        let list = self.maps.list(&ListParams::default().match_any()).await?;
        Ok(list.items.iter().map(ResourceExt::name_any).collect())
    }

    async fn remove_orphans(&self) -> kube::Result<()> {
        let old_list = if self.bug == Bug::OldList { Some(self.old_list().await?) } else { None };
        for name in self.made.objects.keys() {
            let Some(letter) = name.strip_prefix("copy-") else { continue };
            let source = format!("src-{letter}");
            let is_foreign = self.bug == Bug::TrustedMemory && !self.own.contains(name);
            let is_there = match &old_list {
                Some(names) => names.contains(&source),
                None => self.sources.objects.contains_key(&source),
            };
            if is_foreign || is_there {
                continue;
            }
            let asks = !matches!(self.bug, Bug::UnfilledCache | Bug::OldList | Bug::TrustedCache);
            if asks && self.maps.get_opt(&source).await?.is_some() {
                continue;
            }
            self.secrets.delete(name, &DeleteParams::default()).await.map(drop)?;
        }
        Ok(())
    }
}
