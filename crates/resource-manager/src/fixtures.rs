//! Creates objects for tests.

use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::{Client, Resource};
use serde_json::{Value, json};

/// Creates an object of the kind in the client's namespace.
pub(crate) async fn create<K: Resource<DynamicType = ()>>(client: &Client, mut object: Value) {
    let kind = ApiResource::erase::<K>(&());
    object["apiVersion"] = json!(kind.api_version);
    object["kind"] = json!(kind.kind);
    let objects: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &kind);
    objects.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
}
