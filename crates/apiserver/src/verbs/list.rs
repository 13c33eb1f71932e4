//! Reading a collection: selectors, revisions, pages.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize, Serialize};
use webhook::field::{Error, Path};

use crate::call::Call;
use crate::http::reply::Reply;
use crate::http::status::Status;
use crate::render::{self, ListMeta};
use crate::selection::Selection;
use crate::state::Shared;
use crate::store::{Compacted, Object, Snapshot};
use crate::versions;

/// How a list may stand to the revision that it asks for.
const MATCHES: &[&str] = &["Exact", "NotOlderThan", ""];

/// Where a page begins.
#[derive(Debug, Serialize, Deserialize)]
struct Token {
    v: String,
    /// The revision of the first page; -1 for the latest.
    rv: i64,
    /// The last key of the page before.
    start: String,
}

/// A page of a collection.
pub(crate) struct Page {
    /// What is on it.
    pub(crate) objects: Vec<Arc<Object>>,
    /// What is said of it.
    pub(crate) meta: ListMeta,
}

/// Reads a collection.
pub(crate) async fn list(shared: &Shared, call: &Call) -> Result<Reply, Status> {
    let page = page(shared, call).await?;
    let objects = page.objects.iter().map(|object| &**object);
    Ok(Reply::json(200, render::list(call, objects, &page.meta)))
}

/// The page of the collection that a request asks for.
pub(crate) async fn page(shared: &Shared, call: &Call) -> Result<Page, Status> {
    let selection = Selection::of(call, &shared.registry.served())?;
    let limit = call.query.integer("limit")?.unwrap_or_default();
    let limit = usize::try_from(limit).ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    let token = token(call)?;
    let snapshot = snapshot(shared, call, token.as_ref())?;
    let prefix = call.key_prefix();
    let start = token.as_ref().map(|token| token.start.as_str());
    let everything = selection.is_everything();
    let mut within = snapshot.range(&prefix, start);
    let (mut objects, mut last) = (Vec::new(), None);
    let mut meta = ListMeta { revision: snapshot.revision, ..ListMeta::default() };
    // What lies behind the page is looked at only for whether it is there: a webhook may have to convert it.
    for (key, object) in within.by_ref() {
        let shown = versions::read_one(shared, &call.target, object).await?;
        if !everything && !selection.selects(shown.value(), &call.target) {
            continue;
        }
        if objects.len() == limit {
            meta.next = last.map(|last| token_text(i64::try_from(snapshot.revision).unwrap_or(-1), last));
            break;
        }
        objects.push(shown);
        last = Some(key);
    }
    if meta.next.is_some() && everything {
        meta.remaining = Some(1 + within.count());
    }
    Ok(Page { objects, meta })
}

fn snapshot(shared: &Shared, call: &Call, token: Option<&Token>) -> Result<Snapshot, Status> {
    let table = &call.target.table;
    if let Some(token) = token {
        let Ok(revision) = u64::try_from(token.rv) else { return Ok(shared.store.snapshot(table)) };
        return shared.store.snapshot_at(table, revision).map_err(|_| expired_page(&token.start));
    }
    let exact = call.query.text("resourceVersionMatch") == "Exact";
    match asked_revision(call)? {
        Some(revision) if revision > shared.store.revision() => {
            Err(too_large(revision, shared.store.revision()))
        }
        Some(revision) if exact => shared
            .store
            .snapshot_at(table, revision)
            .map_err(|_| Status::expired("The resourceVersion for the provided list is too old.")),
        _ => Ok(shared.store.snapshot(table)),
    }
}

/// The `resourceVersion` of a request, after checking how it stands with the other options.
pub(crate) fn asked_revision(call: &Call) -> Result<Option<u64>, Status> {
    let query = &call.query;
    let (revision, matching) = (query.text("resourceVersion"), query.text("resourceVersionMatch"));
    let forbidden = |why: &str| {
        let error = Error::forbidden(&Path::new("resourceVersionMatch"), why);
        Err(Status::invalid("meta.k8s.io", "ListOptions", "", &[error]))
    };
    let watch = query.flag("watch");
    let initial = query.optional_flag("sendInitialEvents");
    match matching {
        "" if watch && initial.is_some() => {
            return forbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        }
        "" => {}
        _ if watch && initial.is_none() => {
            return forbidden(
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            );
        }
        _ if watch && matching != "NotOlderThan" => {
            return forbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        }
        known if !watch && revision.is_empty() => {
            let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            let at = Path::new("resourceVersionMatch");
            let mut errors = vec![Error::forbidden(&at, why)];
            if !MATCHES.contains(&known) {
                errors.push(Error::not_supported(&at, known, MATCHES));
            }
            return Err(Status::invalid("meta.k8s.io", "ListOptions", "", &errors));
        }
        "Exact" if revision == "0" => {
            return forbidden("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        }
        "Exact" | "NotOlderThan" => {}
        other => {
            let error = Error::not_supported(&Path::new("resourceVersionMatch"), other, MATCHES);
            return Err(Status::invalid("meta.k8s.io", "ListOptions", "", &[error]));
        }
    }
    if revision.is_empty() {
        return Ok(None);
    }
    let wrong = |_| {
        let why = format!("strconv.ParseUint: parsing {revision:?}: invalid syntax");
        let error = Error::invalid(&Path::new("resourceVersion"), revision, &why);
        Status::invalid("", "", "", &[error])
    };
    revision.parse().map(Some).map_err(wrong)
}

/// A revision that is not there yet.
fn too_large(revision: u64, current: u64) -> Status {
    let mut status = Status::plain(
        504,
        "Timeout",
        format!("Timeout: Too large resource version: {revision}, current: {current}"),
    );
    let cause =
        serde_json::json!([{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]);
    status.details.insert("causes".to_owned(), cause);
    status.details.insert("retryAfterSeconds".to_owned(), 1.into());
    status
}

/// An event or revision that is no longer known, as a watch says it.
pub(crate) fn too_old(revision: u64, compacted: Compacted) -> Status {
    Status::expired(format!("too old resource version: {revision} ({})", compacted.oldest))
}

fn expired_page(start: &str) -> Status {
    let mut status = Status::expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list \
         without the continue parameter, or use the continue token in this response to retrieve the remainder of \
         the results. Continuing with the provided token results in an inconsistent list - objects that were \
         created, modified, or deleted between the time the first chunk was returned and now may show up in the \
         list.",
    );
    status.continue_token = Some(token_text(-1, start));
    status
}

fn token(call: &Call) -> Result<Option<Token>, Status> {
    let text = call.query.text("continue");
    if text.is_empty() {
        return Ok(None);
    }
    if !matches!(call.query.text("resourceVersion"), "" | "0") {
        return Err(Status::bad_request("specifying resource version is not allowed when using continue"));
    }
    let bad = |why: String| {
        Status::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
    };
    let bytes = STANDARD_NO_PAD.decode(text.trim_end_matches('=')).map_err(|error| bad(error.to_string()))?;
    let token: Token = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
    if token.v == "meta.k8s.io/v1" {
        Ok(Some(token))
    } else {
        Err(bad(format!("server does not recognize this encoded version {:?}", token.v)))
    }
}

fn token_text(rv: i64, start: &str) -> String {
    let token = Token { v: "meta.k8s.io/v1".to_owned(), rv, start: start.to_owned() };
    STANDARD_NO_PAD.encode(serde_json::to_vec(&token).expect("texts and a number are written without error"))
}
