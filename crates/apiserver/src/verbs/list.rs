//! Lists collections: selectors, revisions, pages.

use std::sync::Arc;

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{GeneralPurpose, general_purpose::NO_PAD};
use serde::{Deserialize, Serialize};
use webhook::field::{Error, Path, quote};

use crate::call::Call;
use crate::http::reply::Reply;
use crate::http::status::Status;
use crate::render::{self, ListMeta};
use crate::selection::Selection;
use crate::state::ServerState;
use crate::store::{Compacted, Object, Snapshot};
use crate::verbs::past;
use crate::versions;

/// Continue tokens as Go reads them: it ignores trailing bits.
const TOKENS: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

/// The values of `resourceVersionMatch`.
const MATCHES: &[&str] = &["Exact", "NotOlderThan", ""];

/// A continue token.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Token {
    v: String,
    /// The revision of the first page; -1 for the latest.
    rv: i64,
    /// The last key of the previous page.
    start: String,
}

/// A page of a collection.
pub(crate) struct Page {
    /// The objects of the page.
    pub(crate) objects: Vec<Arc<Object>>,
    /// The metadata of the list.
    pub(crate) meta: ListMeta,
}

/// Lists a collection.
pub(crate) async fn list(shared: &ServerState, call: &Call) -> Result<Reply, Status> {
    let page = page(shared, call).await?;
    let objects = page.objects.iter().map(|object| &**object);
    Ok(Reply::json(200, render::list(call, objects, &page.meta)))
}

/// Computes the requested page of a collection.
pub(crate) async fn page(shared: &ServerState, call: &Call) -> Result<Page, Status> {
    call.query.integer("timeoutSeconds")?;
    let limit = call.query.integer("limit")?.unwrap_or_default();
    let selection = Selection::read(call)?;
    option_errors(call)?;
    selection.check(&call.target, &shared.registry.served())?;
    let limit = usize::try_from(limit).ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    let token = token(call)?;
    // A field selector on the name makes a single page, unless the request continues a list.
    let only = if token.is_some() { None } else { only_key(call, &selection) };
    let snapshot = snapshot(shared, call, (&selection, token.as_ref()))?;
    let (prefix, start) = (call.key_prefix(), token.as_ref().map(|token| token.start.as_str()));
    let mut remaining = candidates(&snapshot, &prefix, start, only.as_deref());
    let (mut objects, mut last) = (Vec::new(), None);
    // Selectors apply to the read object, which a webhook may have to convert.
    while objects.len() < limit
        && let Some((key, object)) = remaining.next()
    {
        let converted = versions::read(shared, &call.target, object).await?;
        if selection.selects(&converted, &call.target) {
            objects.push(converted);
            last = Some(key);
        }
    }
    let mut meta = ListMeta { revision: snapshot.revision, ..ListMeta::default() };
    if objects.len() == limit
        && let (Some(last), Some(_)) = (last, remaining.next())
    {
        meta.next = Some(token_text(i64::try_from(snapshot.revision).unwrap_or(-1), last));
        // With selectors, the remaining objects are not evaluated.
        meta.remaining = selection.is_everything().then(|| 1 + remaining.count());
    }
    Ok(Page { objects, meta })
}

/// The key of the only object that can be selected, if there is one.
pub(super) fn only_key(call: &Call, selection: &Selection) -> Option<String> {
    let everywhere = call.target.resource.namespaced && call.path.namespace.is_empty();
    selection.name().filter(|name| !everywhere && !name.is_empty()).map(|name| call.key(name))
}

/// The objects that can be selected, by key: the only one, or all with a prefix, after `start`.
pub(super) fn candidates<'a>(
    snapshot: &'a Snapshot,
    prefix: &'a str,
    start: Option<&str>,
    only: Option<&str>,
) -> Box<dyn Iterator<Item = (&'a Arc<str>, &'a Arc<Object>)> + Send + 'a> {
    match only {
        Some(key) => Box::new(snapshot.objects.get_key_value(key).into_iter()),
        None => Box::new(snapshot.range(prefix, start)),
    }
}

fn snapshot(
    shared: &ServerState,
    call: &Call,
    (selection, token): (&Selection, Option<&Token>),
) -> Result<Snapshot, Status> {
    let table = &call.target.table;
    if let Some(token) = token {
        let Ok(revision) = u64::try_from(token.rv) else { return Ok(shared.store.snapshot(table)) };
        return shared.store.snapshot_at(table, revision).map_err(|_| expired_page(&token.start));
    }
    let requested = revision(call.query.text("resourceVersion"))
        .map_err(|error| Status::bad_request(format!("invalid resource version: {error}")))?;
    let exact = match call.query.text("resourceVersionMatch") {
        "Exact" => true,
        // A first page with a revision is exact, as all pages of a list have the same revision.
        "" => {
            requested.is_some_and(|revision| revision > 0)
                && call.query.integer("limit")?.is_some_and(|limit| limit > 0)
        }
        _ => false,
    };
    match requested {
        Some(revision) if revision > shared.store.revision() => {
            Err(too_large(revision, shared.store.revision()))
        }
        Some(revision) if exact => shared
            .store
            .snapshot_at(table, revision)
            .map_err(|_| Status::expired("The resourceVersion for the provided list is too old.")),
        _ => Ok(past::collection(shared, call, selection, requested)),
    }
}

/// The `resourceVersion` of a watch request.
pub(crate) fn watched_revision(call: &Call) -> Result<Option<u64>, Status> {
    // kube-apiserver has no error for this, so it reports an internal error.
    revision(call.query.text("resourceVersion")).map_err(|error| Status::failure(error.to_string()))
}

/// Parses a `resourceVersion`; absent if it is empty.
pub(crate) fn revision(text: &str) -> Result<Option<u64>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    let why = format!("strconv.ParseUint: parsing {}: invalid syntax", quote(text));
    text.parse().map(Some).map_err(|_| Error::invalid(&Path::new("resourceVersion"), text, &why))
}

/// Refuses invalid combinations of options.
pub(crate) fn option_errors(call: &Call) -> Result<(), Status> {
    let errors = if call.query.flag("watch") { watch_errors(call) } else { list_errors(call) };
    if errors.is_empty() { Ok(()) } else { Err(Status::invalid("meta.k8s.io", "ListOptions", "", &errors)) }
}

fn list_errors(call: &Call) -> Vec<Error> {
    let query = &call.query;
    let (revision, matching) = (query.text("resourceVersion"), query.text("resourceVersionMatch"));
    let at = Path::new("resourceVersionMatch");
    let mut errors = Vec::new();
    if !matching.is_empty() {
        if revision.is_empty() {
            errors.push(Error::forbidden(
                &at,
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            ));
        }
        if !query.text("continue").is_empty() {
            errors.push(Error::forbidden(&at, "resourceVersionMatch is forbidden when continue is provided"));
        }
        if !MATCHES.contains(&matching) {
            errors.push(Error::not_supported(&at, matching, MATCHES));
        }
        if matching == "Exact" && revision == "0" {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            errors.push(Error::forbidden(&at, why));
        }
    }
    if query.optional_flag("sendInitialEvents").is_some() {
        let at = Path::new("sendInitialEvents");
        errors.push(Error::forbidden(&at, "sendInitialEvents is forbidden for list"));
    }
    errors
}

fn watch_errors(call: &Call) -> Vec<Error> {
    let matching = call.query.text("resourceVersionMatch");
    let initial = call.query.optional_flag("sendInitialEvents").is_some();
    let at = Path::new("resourceVersionMatch");
    let forbidden = |why| Error::forbidden(&at, why);
    let mut errors = Vec::new();
    if initial && matching != "NotOlderThan" {
        errors.push(forbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
    }
    if matching.is_empty() {
        return errors;
    }
    if !initial {
        errors.push(forbidden(
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ));
    }
    if matching != "NotOlderThan" {
        errors.push(Error::not_supported(&at, matching, &["NotOlderThan"]));
    }
    if !call.query.text("continue").is_empty() {
        errors.push(forbidden("resourceVersionMatch is forbidden when continue is provided"));
    }
    errors
}

/// The error for a revision in the future.
pub(crate) fn too_large(revision: u64, current: u64) -> Status {
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

/// The error of a watch from a compacted revision.
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
    let bad =
        |why: String| Status::bad_request(format!("invalid continue token: continue key is not valid{why}"));
    let bytes = TOKENS.decode(text).map_err(|error| bad(format!(": {error}")))?;
    if let Some(byte) = bytes.first().filter(|byte| !byte.is_ascii()) {
        let letter = char::from(*byte);
        return Err(bad(format!(": invalid character '{letter}' looking for beginning of value")));
    }
    let tree = formats::json::document(&bytes).map_err(|why| bad(format!(": {why}")))?;
    let token: Token = serde_json::from_value(tree).map_err(|error| bad(format!(": {error}")))?;
    let version = "(version meta.k8s.io/v1)";
    match (token.v.as_str(), token.rv, token.start.as_str()) {
        ("meta.k8s.io/v1", 0, _) => Err(bad(format!(": incorrect encoded start resourceVersion {version}"))),
        ("meta.k8s.io/v1", _, "") => Err(bad(format!(": encoded start key empty {version}"))),
        ("meta.k8s.io/v1", ..) if !matches!(call.query.text("resourceVersion"), "" | "0") => {
            Err(Status::bad_request("specifying resource version is not allowed when using continue"))
        }
        ("meta.k8s.io/v1", ..) => Ok(Some(token)),
        (other, ..) => Err(bad(format!(": server does not recognize this encoded version {other}"))),
    }
}

fn token_text(rv: i64, start: &str) -> String {
    let token = Token { v: "meta.k8s.io/v1".to_owned(), rv, start: start.to_owned() };
    TOKENS.encode(serde_json::to_vec(&token).expect("texts and a number are written without error"))
}
