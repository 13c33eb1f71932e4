//! Dry runs: the server checks and answers writes, and persists nothing.

use futures::FutureExt;
use http::{Method, Request};
use kube::client::Body;
use serde_json::json;

/// Makes a write a dry run. If a deletion's options are in its body, a server does not read them from the query.
pub(super) fn make_dry_run(request: &mut Request<Body>) {
    match *request.method() {
        Method::GET => {}
        Method::DELETE => {
            set_in_body(request);
            set_in_query(request);
        }
        _ => set_in_query(request),
    }
}

fn set_in_query(request: &mut Request<Body>) {
    let path = request.uri().path();
    let query = request.uri().query().map_or(String::new(), |query| format!("{query}&"));
    if let Ok(uri) = format!("{path}?{query}dryRun=All").parse() {
        *request.uri_mut() = uri;
    }
}

fn set_in_body(request: &mut Request<Body>) {
    let body = std::mem::replace(request.body_mut(), Body::empty());
    let Some(Ok(bytes)) = body.collect_bytes().now_or_never() else { return };
    let dry_run = match formats::json::document(&bytes) {
        Ok(mut options) if options.is_object() => {
            options["dryRun"] = json!(["All"]);
            Body::from(options.to_string().into_bytes())
        }
        _ => Body::from(bytes),
    };
    *request.body_mut() = dry_run;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dry_run(method: Method, uri: &str, body: &str) -> (String, String) {
        let body = Body::from(body.as_bytes().to_vec());
        let mut request = Request::builder().method(method).uri(uri).body(body).expect("a request");
        make_dry_run(&mut request);
        let uri = request.uri().to_string();
        let bytes = request.into_body().collect_bytes().now_or_never().expect("at once").expect("bytes");
        (uri, String::from_utf8(bytes.to_vec()).expect("text"))
    }

    #[test]
    fn writes_and_deletions_become_dry_runs_and_reads_stay_unchanged() {
        let cases = [
            (Method::GET, "/a?x=1", "", "/a?x=1", ""),
            (Method::PUT, "/a", "{}", "/a?dryRun=All", "{}"),
            (Method::PATCH, "/a?force=true", "[]", "/a?force=true&dryRun=All", "[]"),
            (Method::DELETE, "/a", "", "/a?dryRun=All", ""),
            (Method::DELETE, "/a", "{}", "/a?dryRun=All", r#"{"dryRun":["All"]}"#),
            (Method::DELETE, "/a", "no options", "/a?dryRun=All", "no options"),
        ];
        for (method, uri, body, wanted_uri, wanted_body) in cases {
            assert_eq!(dry_run(method, uri, body), (wanted_uri.to_owned(), wanted_body.to_owned()));
        }
    }
}
