//! Watches collections: events from a revision, bookmarks, selectors, compaction.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use serde_json::{Value, json};
use tokio::sync::watch::Receiver;
use tokio::time::Instant;

use crate::access::attributes::{Attributes, RequestInfo};
use crate::call::Call;
use crate::convert;
use crate::faults::{Hold, ReadTarget, WatchEnd, WatchEnds};
use crate::http::negotiate::Representation;
use crate::http::reply::Reply;
use crate::http::status::Status;
use crate::object::meta;
use crate::object::meta::TEMPLATE_GENERATION;
use crate::render;
use crate::selection::Selection;
use crate::state::ServerState;
use crate::store::{Compacted, Event, EventKind, Object};
use crate::table;
use crate::verbs::list::{self, option_errors, too_old, watched_revision};
use crate::verbs::past;
use crate::versions;

/// The default duration of a watch; kube-apiserver picks one between this and its double.
const DEFAULT_DURATION: Duration = Duration::from_mins(30);
/// The longest duration of a watch.
const MAX_DURATION: Duration = Duration::from_hours(24 * 365);
/// How long before its end a watch receives a last bookmark.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);
/// How many events are read from the store at once.
const BATCH: usize = 100;

/// A running watch.
struct Watcher {
    shared: Arc<ServerState>,
    call: Call,
    selection: Selection,
    prefix: String,
    /// The key of the only object that can be selected, if there is one.
    only: Option<String>,
    /// The revision up to which events have been processed.
    seen: u64,
    pending: VecDeque<Bytes>,
    news: Receiver<u64>,
    ends: WatchEnds,
    request: Attributes,
    end: Instant,
    next_bookmark: Option<Instant>,
    /// Whether the columns of a table were sent.
    sent_columns: bool,
    /// What is watched, if that is followed.
    followed: Option<ReadTarget>,
    /// How long nothing is delivered yet, as a fault says.
    hold: Option<Hold>,
    done: bool,
}

/// Watches a collection.
pub(crate) async fn watch(shared: &Arc<ServerState>, call: &Call) -> Result<Reply, Status> {
    let mut call = call.clone();
    if !call.path.name.is_empty() {
        return Err(Status::method_not_allowed());
    }
    let selection = Selection::read(&call)?;
    option_errors(&call)?;
    selection.check(&call.target, &shared.registry.served())?;
    let revision = watched_revision(&call)?;
    let initial = call.query.optional_flag("sendInitialEvents");
    // A stream of YAML documents does not separate events.
    call.accept.yaml = false;
    let mut watcher = Watcher::new(shared, call, selection)?;
    match (initial, revision) {
        // A bookmark marks the end of the initial events, whether they were requested or implied, if the client accepts
        // bookmarks.
        (Some(true), _) | (None, None | Some(0)) => watcher.send_all_objects().await?,
        (Some(false), None | Some(0)) => watcher.seen = shared.store.revision(),
        (_, Some(revision)) => {
            let oldest = oldest_revision(shared, &watcher.call);
            if revision < oldest {
                watcher.end_with_error(&too_old(revision, Compacted { oldest }));
            }
            watcher.seen = revision;
            (watcher.followed, watcher.hold) = past::watch(shared, &watcher.call, revision);
        }
    }
    let frames = stream::unfold(watcher, |mut watcher| async move {
        let bytes = watcher.next().await?;
        Some((Ok::<_, Infallible>(Frame::data(bytes)), watcher))
    });
    let body = StreamBody::new(frames).boxed_unsync();
    Ok(Reply { body, ..Reply::json(200, Bytes::new()) })
}

/// The revision before which no events exist: that of the CRD for custom resources.
fn oldest_revision(shared: &ServerState, call: &Call) -> u64 {
    let definition = shared.store.get("customresourcedefinitions.apiextensions.k8s.io", &call.target.table);
    definition.filter(|_| call.target.custom).map_or(0, |definition| definition.creation_revision())
}

impl Watcher {
    fn new(shared: &Arc<ServerState>, call: Call, selection: Selection) -> Result<Self, Status> {
        let seconds = call.query.integer("timeoutSeconds")?.and_then(|seconds| u64::try_from(seconds).ok());
        let duration = seconds.filter(|seconds| *seconds > 0).map_or(DEFAULT_DURATION, Duration::from_secs);
        // The requested number of seconds may exceed what an `Instant` can represent.
        let duration = duration.min(MAX_DURATION);
        let now = Instant::now();
        let end = now + duration;
        let bookmarks = call.query.flag("allowWatchBookmarks");
        let first = (now + shared.switches.bookmark_period).min(end - LAST_BOOKMARK.min(duration));
        Ok(Self {
            news: shared.store.subscribe(&call.target.table),
            ends: shared.faults.watch_ends(),
            request: Attributes {
                user: call.user.clone(),
                info: RequestInfo::Resource { verb: call.verb, path: call.path.clone(), selected_name: None },
            },
            shared: Arc::clone(shared),
            prefix: call.key_prefix(),
            only: list::only_key(&call, &selection),
            call,
            selection,
            seen: 0,
            pending: VecDeque::new(),
            end,
            next_bookmark: bookmarks.then_some(first),
            sent_columns: false,
            followed: None,
            hold: None,
            done: false,
        })
    }

    /// Sends all existing objects as added, and then a bookmark if the client accepts bookmarks.
    async fn send_all_objects(&mut self) -> Result<(), Status> {
        let snapshot = self.shared.store.snapshot(&self.call.target.table);
        self.seen = snapshot.revision;
        let objects: Vec<_> = list::candidates(&snapshot, &self.prefix, None, self.only.as_deref())
            .map(|(_, object)| Arc::clone(object))
            .collect();
        for object in &objects {
            let converted = versions::read(&self.shared, &self.call.target, object).await?;
            if self.selection.selects(&converted, &self.call.target) {
                let line = self.line("ADDED", &converted);
                self.pending.push_back(line);
            }
        }
        if self.next_bookmark.is_some() {
            let bookmark = self.bookmark(true);
            self.pending.push_back(bookmark);
        }
        Ok(())
    }

    async fn next(&mut self) -> Option<Bytes> {
        if let Some(hold) = self.hold.take() {
            hold.end().await;
        }
        loop {
            if let Some(line) = self.pending.pop_front() {
                return Some(line);
            }
            if self.done {
                return None;
            }
            self.news.borrow_and_update();
            if self.take_events().await {
                continue;
            }
            let bookmark = self.next_bookmark.filter(|next| *next < self.end).unwrap_or(self.end);
            tokio::select! {
                // Events that were written before the end are delivered.
                biased;
                news = self.news.changed() => self.done = news.is_err(),
                end = self.ends.wait(&self.request) => self.end_by_fault(end),
                () = tokio::time::sleep_until(bookmark) => self.tick(),
            }
        }
    }

    /// Reads events from the store; returns whether there were any.
    async fn take_events(&mut self) -> bool {
        match self.shared.store.events(&self.call.target.table, self.seen, BATCH) {
            Err(compacted) => {
                self.end_with_error(&too_old(self.seen, compacted));
                true
            }
            Ok((events, revision)) => {
                for event in &events {
                    match self.event(event).await {
                        Ok(line) => {
                            if let (Some(_), Some(target)) = (&line, &self.followed) {
                                past::changed(&self.shared, target, event);
                            }
                            self.pending.extend(line);
                        }
                        Err(status) => {
                            self.pending.push_back(line("ERROR", status.json().to_string().as_bytes()));
                            self.done = true;
                            return true;
                        }
                    }
                }
                // A watch may start at a revision in the future.
                let last = events.last().map_or(revision, |event| event.revision);
                self.seen = self.seen.max(last);
                !events.is_empty()
            }
        }
    }

    fn end_with_error(&mut self, status: &Status) {
        self.pending.push_back(line("ERROR", status.json().to_string().as_bytes()));
        self.done = true;
    }

    fn end_by_fault(&mut self, end: WatchEnd) {
        self.pending.extend(end.event());
        self.done = true;
    }

    fn tick(&mut self) {
        let now = Instant::now();
        if now >= self.end {
            self.done = true;
            return;
        }
        let bookmark = self.bookmark(false);
        self.pending.push_back(bookmark);
        let last = self.end - LAST_BOOKMARK.min(self.end - now);
        self.next_bookmark =
            Some(if now < last { (now + self.shared.switches.bookmark_period).min(last) } else { self.end });
    }

    /// Converts a write to the event that a watch with these selectors sees.
    async fn event(&mut self, event: &Event) -> Result<Option<Bytes>, Status> {
        let followed = match &self.only {
            Some(only) => *event.key == **only,
            None => event.key.starts_with(&self.prefix),
        };
        if !followed {
            return Ok(None);
        }
        let target = &self.call.target;
        let object = versions::read(&self.shared, target, &event.object).await?;
        let previous = match &event.previous {
            // Without selectors, every object is selected.
            Some(previous) if self.selection.is_everything() => Some(Arc::clone(previous)),
            Some(previous) => Some(versions::read(&self.shared, target, previous).await?),
            None => None,
        };
        let before = previous.filter(|object| self.selection.selects(object, target));
        let after = event.change != EventKind::Deleted && self.selection.selects(&object, target);
        Ok(match (before, after) {
            (None, false) => None,
            (None, true) => Some(self.line("ADDED", &object)),
            (Some(_), true) => Some(self.line("MODIFIED", &object)),
            (Some(_), false) if event.change == EventKind::Deleted => Some(self.line("DELETED", &object)),
            // The object is not selected any more: send its last selected state as deleted, at the revision of the
            // write.
            (Some(before), false) => {
                let mut last = before.tree().into_owned();
                meta::set(&mut last, "resourceVersion", event.revision.to_string());
                Some(self.value_line("DELETED", &last))
            }
        })
    }

    fn line(&mut self, kind: &str, object: &Object) -> Bytes {
        if matches!(self.call.accept.representation, Representation::Table(_)) {
            return self.value_line(kind, &object.tree());
        }
        line(kind, &render::object(&self.call, object))
    }

    fn value_line(&mut self, kind: &str, object: &Value) -> Bytes {
        let Representation::Table(version) = self.call.accept.representation else {
            return line(kind, &render::value(&self.call, object));
        };
        let columns = !std::mem::replace(&mut self.sent_columns, true);
        let converted = convert::to_version(object, &self.call.target.resource);
        let table = table::of(&self.call, std::iter::once(&*converted), version, columns);
        line(kind, table.to_string().as_bytes())
    }

    fn bookmark(&mut self, all_sent: bool) -> Bytes {
        let resource = &self.call.target.resource;
        let mut metadata = json!({"resourceVersion": self.seen.to_string(), "creationTimestamp": null});
        if resource.kind == "DaemonSet" && !self.call.target.custom {
            metadata["annotations"] = json!({TEMPLATE_GENERATION: "0"});
        }
        if all_sent {
            metadata["annotations"]["k8s.io/initial-events-end"] = "true".into();
        }
        let object =
            json!({"apiVersion": resource.api_version(), "kind": resource.kind, "metadata": metadata});
        if let Representation::Table(version) = self.call.accept.representation {
            let columns = !std::mem::replace(&mut self.sent_columns, true);
            let table = table::of(&self.call, std::iter::once(&object), version, columns);
            return line("BOOKMARK", table.to_string().as_bytes());
        }
        line("BOOKMARK", &render::value(&self.call, &object))
    }
}

fn line(kind: &str, object: &[u8]) -> Bytes {
    let mut line = Vec::with_capacity(object.len() + 32);
    line.extend_from_slice(b"{\"type\":\"");
    line.extend_from_slice(kind.as_bytes());
    line.extend_from_slice(b"\",\"object\":");
    line.extend_from_slice(object);
    line.extend_from_slice(b"}\n");
    Bytes::from(line)
}
