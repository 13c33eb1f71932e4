//! Logs the warnings of API servers, each once, under the originals' logger name.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::header::WARNING;
use http::{HeaderMap, Request};
use kube::Client;
use kube::client::Body;
use parking_lot::Mutex;

/// How many warnings are remembered; older ones are logged again.
const REMEMBERED: usize = 1000;

/// The warnings that were logged. Cheap to clone; clones log each warning once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Warnings {
    logged: Arc<Mutex<BTreeSet<String>>>,
}

impl Warnings {
    /// A client that sends its requests through `client`, and logs the warnings in the answers.
    pub(crate) fn wrap_client(&self, client: &Client) -> Client {
        let (warnings, asked) = (self.clone(), client.clone());
        let service = tower::service_fn(move |request: Request<Body>| {
            let (warnings, client) = (warnings.clone(), asked.clone());
            async move {
                let answer = client.send(request).await?;
                for warning in warnings.new_warnings(answer.headers()) {
                    tracing::info!(target: "KubeAPIWarningLogger", "{warning}");
                }
                Ok::<_, kube::Error>(answer)
            }
        });
        Client::new(service, client.default_namespace())
    }

    /// The warnings of an answer that were not logged yet.
    fn new_warnings(&self, headers: &HeaderMap) -> Vec<String> {
        let warnings = headers.get_all(WARNING).iter().filter_map(|value| text(value.to_str().ok()?));
        let mut logged = self.logged.lock();
        warnings
            .filter(|warning| {
                if logged.len() >= REMEMBERED {
                    logged.clear();
                }
                logged.insert(warning.clone())
            })
            .collect()
    }
}

/// The text of `299 - "text"`, in which backslashes escape quotes and backslashes; Kubernetes sends one per header.
fn text(value: &str) -> Option<String> {
    let quoted = value.strip_prefix("299 ")?.split_once('"')?.1.strip_suffix('"')?;
    let mut letters = quoted.chars();
    let unescaped = std::iter::from_fn(|| match letters.next()? {
        '\\' => letters.next(),
        letter => Some(letter),
    });
    Some(unescaped.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_warning_is_logged_once() {
        let mut headers = HeaderMap::new();
        let sent =
            [r#"299 - "unknown field \"spec.a\"""#, r#"299 - "deprecated""#, r#"199 - "of a proxy""#, "no"];
        for value in sent {
            headers.append(WARNING, value.parse().unwrap());
        }
        let warnings = Warnings::default();
        assert_eq!(warnings.new_warnings(&headers), [r#"unknown field "spec.a""#, "deprecated"]);
        headers.append(WARNING, r#"299 - "another""#.parse().unwrap());
        assert_eq!(warnings.clone().new_warnings(&headers), ["another"]);
    }

    #[test]
    fn what_is_remembered_is_limited() {
        let warnings = Warnings::default();
        for number in 0..=REMEMBERED {
            let mut headers = HeaderMap::new();
            headers.append(WARNING, format!("299 - \"{number}\"").parse().unwrap());
            assert_eq!(warnings.new_warnings(&headers), [number.to_string()]);
        }
        assert_eq!(warnings.logged.lock().len(), 1);
    }
}
