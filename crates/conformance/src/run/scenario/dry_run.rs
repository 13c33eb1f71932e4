//! Writes without effect: the server checks and answers them, and keeps nothing.

use futures::FutureExt;
use http::{Method, Request};
use kube::client::Body;
use serde_json::{Value, json};

/// Makes a write a dry run. Where a deletion's options are its body, a server does not read them from the query.
pub(super) fn make(request: &mut Request<Body>) {
    match *request.method() {
        Method::GET => {}
        Method::DELETE => {
            options(request);
            query(request);
        }
        _ => query(request),
    }
}

fn query(request: &mut Request<Body>) {
    let path = request.uri().path();
    let query = request.uri().query().map_or(String::new(), |query| format!("{query}&"));
    if let Ok(uri) = format!("{path}?{query}dryRun=All").parse() {
        *request.uri_mut() = uri;
    }
}

fn options(request: &mut Request<Body>) {
    let body = std::mem::replace(request.body_mut(), Body::empty());
    let Some(Ok(bytes)) = body.collect_bytes().now_or_never() else { return };
    let dry = match serde_json::from_slice::<Value>(&bytes) {
        Ok(mut options) if options.is_object() => {
            options["dryRun"] = json!(["All"]);
            Body::from(options.to_string().into_bytes())
        }
        _ => Body::from(bytes),
    };
    *request.body_mut() = dry;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(method: Method, uri: &str, body: &str) -> (String, String) {
        let body = Body::from(body.as_bytes().to_vec());
        let mut request = Request::builder().method(method).uri(uri).body(body).expect("a request");
        make(&mut request);
        let uri = request.uri().to_string();
        let bytes = request.into_body().collect_bytes().now_or_never().expect("at once").expect("bytes");
        (uri, String::from_utf8(bytes.to_vec()).expect("text"))
    }

    #[test]
    fn writes_and_deletions_keep_nothing_and_reads_are_left_alone() {
        let cases = [
            (Method::GET, "/a?x=1", "", "/a?x=1", ""),
            (Method::PUT, "/a", "{}", "/a?dryRun=All", "{}"),
            (Method::PATCH, "/a?force=true", "[]", "/a?force=true&dryRun=All", "[]"),
            (Method::DELETE, "/a", "", "/a?dryRun=All", ""),
            (Method::DELETE, "/a", "{}", "/a?dryRun=All", r#"{"dryRun":["All"]}"#),
            (Method::DELETE, "/a", "no options", "/a?dryRun=All", "no options"),
        ];
        for (method, uri, body, wanted_uri, wanted_body) in cases {
            assert_eq!(made(method, uri, body), (wanted_uri.to_owned(), wanted_body.to_owned()));
        }
    }
}
