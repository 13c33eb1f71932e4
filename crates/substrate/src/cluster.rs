//! A cluster behind a client: writes, reads and removes objects as plain JSON, and returns errors of the server
//! unchanged.

use http::{Method, Request, header};
use kube::client::Body;
use schema::{Kinds, Resource};
use serde_json::{Value, json};

/// A cluster that cases write to.
#[derive(Clone)]
pub struct Cluster {
    client: kube::Client,
    finalizes: bool,
    impersonated: Option<Asker>,
}

/// A user to impersonate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    /// The user name.
    pub name: String,
    /// The user's groups.
    pub groups: Vec<String>,
}

/// The user agent of impersonating requests, which distinguishes them in logs from those under test.
pub const SPEAKER: &str = "gardener-conformance";

/// The reply of an API server.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// HTTP status.
    pub code: u16,
    /// The object, or the Status of an error.
    pub body: Value,
    /// Texts of the `Warning` headers.
    pub warnings: Vec<String>,
}

/// Reason why a request failed, or why an object cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The kind is unknown, so the object has no known path.
    #[error("no known API server serves {api_version} {kind}")]
    Kind {
        /// `apiVersion` of the object.
        api_version: String,
        /// `kind` of the object.
        kind: String,
    },
    /// The request could not be sent.
    #[error("failed to {method} {path}: {source}")]
    Send {
        /// HTTP method.
        method: Method,
        /// Path of the request.
        path: String,
        /// The client's error.
        source: Box<kube::Error>,
    },
    /// The body of the answer could not be read.
    #[error("failed to read the answer to {method} {path}: {reason}")]
    Read {
        /// HTTP method.
        method: Method,
        /// Path of the request.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The server refused a required write.
    #[error("the API server refused {what}: {message}")]
    Refused {
        /// Kind and name.
        what: String,
        /// The server's message.
        message: String,
    },
}

impl Reply {
    /// Whether the request succeeded.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// The message of an error.
    #[must_use]
    pub fn message(&self) -> String {
        let message = self.body["message"].as_str().map(str::to_owned);
        message.unwrap_or_else(|| format!("HTTP status {}", self.code))
    }
}

impl Cluster {
    /// A cluster behind this client, with a namespace controller.
    #[must_use]
    pub fn new(client: kube::Client) -> Self {
        Self { client, finalizes: false, impersonated: None }
    }

    /// A cluster without controllers: callers that delete a namespace must call [`Self::finalize`].
    #[must_use]
    pub fn without_controllers(client: kube::Client) -> Self {
        Self { client, finalizes: true, impersonated: None }
    }

    /// The same cluster, with requests that impersonate a user.
    #[must_use]
    pub fn speaking_for(&self, asker: Asker) -> Self {
        Self { impersonated: Some(asker), ..self.clone() }
    }

    /// The client.
    #[must_use]
    pub fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// Creates an object; `query` such as `dryRun=All`, or empty.
    ///
    /// # Errors
    /// When the kind is unknown or the request cannot be sent; an error of the server is a [`Reply`].
    pub async fn create(&self, object: &Value, query: &str) -> Result<Reply, ClusterError> {
        let resource = resource(object)?;
        let path = collection_path(resource, namespace(object));
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
        let path = object_path(object, subresource)?;
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
        let at = object_path(object, subresource)?;
        self.send_as(Method::PATCH, &at, "", Some(patch), "application/merge-patch+json").await
    }

    /// Reads the object of this kind, namespace and name.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn get(&self, object: &Value) -> Result<Reply, ClusterError> {
        self.send(Method::GET, &object_path(object, "")?, "", None).await
    }

    /// Deletes the object of this kind, namespace and name.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn delete(&self, object: &Value, query: &str) -> Result<Reply, ClusterError> {
        self.send(Method::DELETE, &object_path(object, "")?, query, None).await
    }

    /// Deletes every object of `<plural>[.<group>]` in a namespace (or everywhere, if its objects have none).
    ///
    /// # Errors
    /// When the resource is unknown or the request cannot be sent.
    pub async fn delete_collection(
        &self,
        name: &str,
        namespace: &str,
        query: &str,
    ) -> Result<Reply, ClusterError> {
        let resource = collection_of(name)?;
        self.send(Method::DELETE, &collection_path(resource, namespace), query, None).await
    }

    /// Lists the objects of `<plural>[.<group>]` in all namespaces.
    ///
    /// # Errors
    /// When the resource is unknown or the request cannot be sent.
    pub async fn list(&self, name: &str) -> Result<Reply, ClusterError> {
        self.send(Method::GET, &collection_path(collection_of(name)?, ""), "", None).await
    }

    /// Whether the server serves a resource, known to this project or not: group, version and plural of a
    /// CustomResourceDefinition.
    ///
    /// # Errors
    /// When the request cannot be sent.
    pub async fn serves(&self, group: &str, version: &str, plural: &str) -> Result<bool, ClusterError> {
        let path = format!("/apis/{group}/{version}/{plural}");
        Ok(self.send(Method::GET, &path, "limit=1", None).await?.is_success())
    }

    /// Removes the finalizers of a deleted namespace, if the cluster has no controllers.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn finalize(&self, namespace: &Value) -> Result<(), ClusterError> {
        let has_finalizers =
            namespace["spec"]["finalizers"].as_array().is_some_and(|found| !found.is_empty());
        if self.finalizes && namespace["kind"] == "Namespace" && has_finalizers {
            let mut finalized = namespace.clone();
            finalized["spec"]["finalizers"] = json!([]);
            self.send(Method::PUT, &object_path(&finalized, "finalize")?, "", Some(&finalized)).await?;
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
        if let Some(asker) = &self.impersonated {
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
        let unreadable =
            |reason: String| ClusterError::Read { method: method.clone(), path: path.to_owned(), reason };
        let bytes =
            response.into_body().collect_bytes().await.map_err(|error| unreadable(error.to_string()))?;
        let body = formats::json::document(&bytes)
            .unwrap_or_else(|_| json!({"message": String::from_utf8_lossy(&bytes)}));
        Ok(Reply { code, body, warnings })
    }
}

/// The resource of `<plural>[.<group>]`, in its group's preferred version.
///
/// # Errors
/// When the resource is unknown.
pub fn collection_of(name: &str) -> Result<&'static Resource, ClusterError> {
    let named = Kinds::gardener().named(name);
    let unknown = || ClusterError::Kind { api_version: String::new(), kind: name.to_owned() };
    named.first().copied().ok_or_else(unknown)
}

/// The resource that serves an object.
///
/// # Errors
/// When the kind is unknown.
pub fn resource(object: &Value) -> Result<&'static Resource, ClusterError> {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    Kinds::gardener()
        .of_object(api_version, kind)
        .ok_or_else(|| ClusterError::Kind { api_version: api_version.to_owned(), kind: kind.to_owned() })
}

fn collection_path(resource: &Resource, namespace: &str) -> String {
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

fn object_path(object: &Value, subresource: &str) -> Result<String, ClusterError> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let path = format!("{}/{name}", collection_path(resource(object)?, namespace(object)));
    Ok(if subresource.is_empty() { path } else { format!("{path}/{subresource}") })
}

fn namespace(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().unwrap_or_default()
}

fn warnings(headers: &header::HeaderMap) -> Vec<String> {
    let texts = headers.get_all(header::WARNING).iter().filter_map(|value| value.to_str().ok());
    texts.map(formats::warning::text).collect()
}
