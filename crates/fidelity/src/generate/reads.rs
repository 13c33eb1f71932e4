//! Generates reads of objects and collections, and watches.

use super::RequestBuilder;
use crate::request::Request;

const LABELS: &[&str] = &[
    "app=a",
    "app==b",
    "app!=a",
    "app in (a,b)",
    "app notin (b)",
    "app",
    "!app",
    "tier=x,app=a",
    "of=${ns}",
    "a=b=c",
    "app in",
    "-bad=x",
    "app=bad value",
    "n>1",
];
/// `<a>` stands for the name of the object `a`.
const FIELDS: &[&str] = &[
    "metadata.name=<a>",
    "metadata.name!=<a>",
    "metadata.namespace=${ns}",
    "metadata.name=<a>,metadata.namespace=${ns}",
    "spec.nodeName=x",
    "type=Opaque",
    "status.phase=Running",
    "metadata.labels=x",
    "bad",
    "metadata.name=",
];
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const METADATA: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

impl RequestBuilder<'_> {
    pub(super) fn get(&mut self) -> Request {
        let subresource = self.subresource();
        let mut request = read(self.path(subresource));
        request.accept = self.accept(METADATA);
        if self.dice.percent(8) {
            let revision = self
                .dice
                .pick(&["${rv _}", "text", "0", "999999999999"])
                .replace('_', &self.kind.key(self.name));
            // A server answers 0 from its cache, which may lag behind.
            if revision != "0" {
                request.query.insert("resourceVersion".to_owned(), revision);
            }
        }
        if self.dice.percent(3) {
            request.user = Some("nobody".to_owned());
        }
        request
    }

    pub(super) fn list(&mut self) -> Request {
        let mut request = read(self.kind.collection());
        request.accept = self.accept(METADATA_LIST);
        self.select(&mut request);
        let mut set = |key: &str, value: String| request.query.insert(key.to_owned(), value);
        let resource = &self.kind.resource;
        if self.dice.percent(45) {
            set("limit", self.dice.weigh(&[(6, "1"), (3, "2"), (1, "0"), (1, "-1"), (1, "x")]).to_owned());
            if self.dice.percent(45) {
                set("continue", format!("${{continue {resource}}}"));
            } else if self.dice.percent(5) {
                set(
                    "continue",
                    self.dice.pick(&["odd", "e30", "eyJ2IjoibWV0YS5rOHMuaW8vdjIifQ"]).to_string(),
                );
            }
        } else if self.dice.percent(25) {
            let revision =
                self.dice.weigh(&[(5, "${rv _}"), (3, "${revision _}"), (2, "text"), (1, "999999999999")]);
            let of = if revision.starts_with("${rv") { self.kind.key(self.name) } else { resource.clone() };
            set("resourceVersion", revision.replace('_', &of));
        }
        if self.dice.percent(12) {
            set(
                "resourceVersionMatch",
                self.dice.weigh(&[(5, "Exact"), (5, "NotOlderThan"), (2, "Odd")]).to_owned(),
            );
        }
        if self.dice.percent(2) {
            request.user = Some("nobody".to_owned());
        }
        request
    }

    pub(super) fn watch(&mut self) -> Request {
        let mut request = read(self.kind.collection());
        request.accept = self.accept(METADATA);
        if request.accept.as_deref() == Some("text/html") {
            request.accept = None;
        }
        self.select(&mut request);
        let mut set = |key: &str, value: &str| request.query.insert(key.to_owned(), value.to_owned());
        set("watch", self.dice.weigh(&[(9, "1"), (1, "true")]));
        let key = self.kind.key(self.name);
        let revision = self.dice.weigh(&[(30, ""), (25, "rv"), (25, "stale"), (15, "revision"), (5, "text")]);
        match revision {
            "" => {}
            "revision" => {
                set("resourceVersion", &format!("${{revision {}}}", self.kind.resource));
            }
            "text" => {
                set("resourceVersion", revision);
            }
            what => {
                set("resourceVersion", &format!("${{{what} {key}}}"));
            }
        }
        if self.dice.percent(25) {
            set("allowWatchBookmarks", "true");
        }
        if self.dice.percent(15) {
            set("sendInitialEvents", self.dice.weigh(&[(5, "true"), (1, "false")]));
            if self.dice.percent(85) {
                set("resourceVersionMatch", "NotOlderThan");
            }
            set("allowWatchBookmarks", "true");
        } else if self.dice.percent(3) {
            set("resourceVersionMatch", "Exact");
        }
        request
    }

    /// Adds random selectors; for cluster-scoped kinds always one for the objects of the sequence.
    pub(super) fn select(&mut self, request: &mut Request) {
        let mut labels = Vec::new();
        if self.kind.cluster_scoped {
            labels.push("of=${ns}");
        }
        if self.dice.percent(40) {
            labels.push(*self.dice.pick(LABELS));
        }
        if !labels.is_empty() {
            request.query.insert("labelSelector".to_owned(), labels.join(","));
        }
        if self.dice.percent(20) {
            let selector = self.dice.pick(FIELDS).replace("<a>", &self.kind.object_name("a"));
            request.query.insert("fieldSelector".to_owned(), selector);
        }
    }

    fn accept(&mut self, metadata: &str) -> Option<String> {
        let wanted = self.dice.weigh(&[(75, ""), (9, TABLE), (9, metadata), (3, "text/html"), (4, "*/*")]);
        (!wanted.is_empty()).then(|| wanted.to_owned())
    }
}

fn read(path: String) -> Request {
    Request { method: "GET".to_owned(), path, ..Request::default() }
}
