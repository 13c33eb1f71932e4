//! One cluster behind a client: objects written, read and removed as plain JSON, refusals kept as they came.

use http::{Method, Request, header};
use kube::client::Body;
use schema::{Kinds, Resource};
use serde_json::{Value, json};

/// A cluster that cases write into.
#[derive(Clone)]
pub struct Cluster {
    client: kube::Client,
    finalizes: bool,
    speaks_for: Option<Asker>,
}

/// A user that others speak for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    /// Its name.
    pub name: String,
    /// Its groups.
    pub groups: Vec<String>,
}

/// How requests call themselves that speak for somebody else, so that logs tell them from those that are meant.
pub const SPEAKER: &str = "gardener-conformance";

/// What an API server answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// HTTP status.
    pub code: u16,
    /// The object, or the Status of a refusal.
    pub body: Value,
    /// Texts of the `Warning` headers.
    pub warnings: Vec<String>,
}

/// Why a request was not answered or an object cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The kind of the object is not known, so its path is not.
    #[error("{api_version} {kind} is served by no API server that is known")]
    Kind {
        /// `apiVersion` of the object.
        api_version: String,
        /// `kind` of the object.
        kind: String,
    },
    /// The server could not be asked.
    #[error("failed to {method} {path}: {source}")]
    Send {
        /// HTTP method.
        method: Method,
        /// Path asked.
        path: String,
        /// The client's reason.
        source: Box<kube::Error>,
    },
    /// The answer is no JSON.
    #[error("failed to read the answer to {method} {path}: {reason}")]
    Read {
        /// HTTP method.
        method: Method,
        /// Path asked.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The server refused what had to be written.
    #[error("the API server refused {what}: {message}")]
    Refused {
        /// Kind and name.
        what: String,
        /// Its message.
        message: String,
    },
}

impl Reply {
    /// Whether the server did what it was asked.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// The message of a refusal.
    #[must_use]
    pub fn message(&self) -> String {
        let message = self.body["message"].as_str().map(str::to_owned);
        message.unwrap_or_else(|| format!("HTTP status {}", self.code))
    }
}

impl Cluster {
    /// A cluster behind this client.
    #[must_use]
    pub fn new(client: kube::Client) -> Self {
        Self { client, finalizes: false, speaks_for: None }
    }

    /// A cluster without controllers: what a namespace controller would do when a namespace is deleted, whoever deletes
    /// it has to do.
    #[must_use]
    pub fn without_controllers(client: kube::Client) -> Self {
        Self { client, finalizes: true, speaks_for: None }
    }

    /// The cluster as another user is shown it.
    #[must_use]
    pub fn speaking_for(&self, asker: Asker) -> Self {
        Self { speaks_for: Some(asker), ..self.clone() }
    }

    /// The client.
    #[must_use]
    pub fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// Creates an object; `query` such as `dryRun=All`, or empty.
    ///
    /// # Errors
    /// When its kind is unknown or the server cannot be asked; a refusal is a [`Reply`].
    pub async fn create(&self, object: &Value, query: &str) -> Result<Reply, ClusterError> {
        let resource = resource(object)?;
        let path = collection(resource, namespace(object));
        self.send(Method::POST, &path, query, Some(object)).await
    }

    /// Replaces an object, or its subresource if one is named.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn replace(
        &self,
        object: &Value,
        subresource: &str,
        query: &str,
    ) -> Result<Reply, ClusterError> {
        let path = one(object, subresource)?;
        self.send(Method::PUT, &path, query, Some(object)).await
    }

    /// Sends a JSON merge patch to the object of this kind, namespace and name, or to its subresource if one is named.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn merge_patch(
        &self,
        object: &Value,
        subresource: &str,
        patch: &Value,
    ) -> Result<Reply, ClusterError> {
        let place = one(object, subresource)?;
        self.send_as(Method::PATCH, &place, "", Some(patch), "application/merge-patch+json").await
    }

    /// Reads the object of this kind, namespace and name.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn get(&self, object: &Value) -> Result<Reply, ClusterError> {
        self.send(Method::GET, &one(object, "")?, "", None).await
    }

    /// Deletes the object of this kind, namespace and name.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn delete(&self, object: &Value, query: &str) -> Result<Reply, ClusterError> {
        self.send(Method::DELETE, &one(object, "")?, query, None).await
    }

    /// Deletes every object of `<plural>[.<group>]` in a namespace (or everywhere, if its objects have none).
    ///
    /// # Errors
    /// When no such resource is known or the server cannot be asked.
    pub async fn delete_collection(
        &self,
        name: &str,
        namespace: &str,
        query: &str,
    ) -> Result<Reply, ClusterError> {
        let resource = collection_of(name)?;
        self.send(Method::DELETE, &collection(resource, namespace), query, None).await
    }

    /// Lists the objects of `<plural>[.<group>]` in all namespaces.
    ///
    /// # Errors
    /// When no such resource is known or the server cannot be asked.
    pub async fn list(&self, name: &str) -> Result<Reply, ClusterError> {
        self.send(Method::GET, &collection(collection_of(name)?, ""), "", None).await
    }

    /// Whether the server serves a resource, be it known or not: group, version and plural of a CustomResourceDefinition.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn serves(&self, group: &str, version: &str, plural: &str) -> Result<bool, ClusterError> {
        let path = format!("/apis/{group}/{version}/{plural}");
        Ok(self.send(Method::GET, &path, "limit=1", None).await?.is_success())
    }

    /// Ends the deletion of a namespace, where nobody else does.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn finalize(&self, namespace: &Value) -> Result<(), ClusterError> {
        let has_finalizers =
            namespace["spec"]["finalizers"].as_array().is_some_and(|found| !found.is_empty());
        if self.finalizes && namespace["kind"] == "Namespace" && has_finalizers {
            let mut bare = namespace.clone();
            bare["spec"]["finalizers"] = json!([]);
            self.send(Method::PUT, &one(&bare, "finalize")?, "", Some(&bare)).await?;
        }
        Ok(())
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        query: &str,
        body: Option<&Value>,
    ) -> Result<Reply, ClusterError> {
        self.send_as(method, path, query, body, "application/json").await
    }

    async fn send_as(
        &self,
        method: Method,
        path: &str,
        query: &str,
        body: Option<&Value>,
        content_type: &'static str,
    ) -> Result<Reply, ClusterError> {
        let uri = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
        let bytes = body.map(|body| serde_json::to_vec(body).expect("an object is JSON")).unwrap_or_default();
        let mut request = Request::builder()
            .method(method.clone())
            .uri(uri)
            .header(header::CONTENT_TYPE, content_type)
            .header(header::ACCEPT, "application/json");
        if let Some(asker) = &self.speaks_for {
            request = request.header(header::USER_AGENT, SPEAKER).header("Impersonate-User", &asker.name);
            for group in &asker.groups {
                request = request.header("Impersonate-Group", group);
            }
        }
        let request = request
            .body(Body::from(bytes))
            .expect("paths of known resources are URIs, and names of users headers");
        let failed = |source: kube::Error| ClusterError::Send {
            method: method.clone(),
            path: path.to_owned(),
            source: Box::new(source),
        };
        let response = self.client.send(request).await.map_err(failed)?;
        let code = response.status().as_u16();
        let warnings = warnings(response.headers());
        let unread =
            |reason: String| ClusterError::Read { method: method.clone(), path: path.to_owned(), reason };
        let bytes = response.into_body().collect_bytes().await.map_err(|error| unread(error.to_string()))?;
        let body = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| json!({"message": String::from_utf8_lossy(&bytes)}));
        Ok(Reply { code, body, warnings })
    }
}

/// The resource of `<plural>[.<group>]`, in its group's preferred version.
///
/// # Errors
/// When none is known.
pub fn collection_of(name: &str) -> Result<&'static Resource, ClusterError> {
    let named = Kinds::gardener().named(name);
    let unknown = || ClusterError::Kind { api_version: String::new(), kind: name.to_owned() };
    named.first().copied().ok_or_else(unknown)
}

/// The resource that serves an object.
///
/// # Errors
/// When its kind is not known.
pub fn resource(object: &Value) -> Result<&'static Resource, ClusterError> {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    Kinds::gardener()
        .of_object(api_version, kind)
        .ok_or_else(|| ClusterError::Kind { api_version: api_version.to_owned(), kind: kind.to_owned() })
}

fn collection(resource: &Resource, namespace: &str) -> String {
    let root = if resource.group.is_empty() {
        format!("/api/{}", resource.version)
    } else {
        format!("/apis/{}/{}", resource.group, resource.version)
    };
    if resource.namespaced && !namespace.is_empty() {
        format!("{root}/namespaces/{namespace}/{}", resource.plural)
    } else {
        format!("{root}/{}", resource.plural)
    }
}

fn one(object: &Value, subresource: &str) -> Result<String, ClusterError> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let path = format!("{}/{name}", collection(resource(object)?, namespace(object)));
    Ok(if subresource.is_empty() { path } else { format!("{path}/{subresource}") })
}

fn namespace(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().unwrap_or_default()
}

fn warnings(headers: &header::HeaderMap) -> Vec<String> {
    let texts = headers.get_all(header::WARNING).iter().filter_map(|value| value.to_str().ok());
    texts.map(formats::warning::text).collect()
}
