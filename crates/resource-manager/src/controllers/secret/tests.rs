//! Plans, and refused writes.

use apiserver::{ApiServer, Effect, Fault, Matching, Refusal};
use controller::{CacheOptions, Cluster, Entropy};
use kube::Client;
use kube::api::PostParams;
use rstest::rstest;

use super::*;

const FINALIZER: &str = "resources.gardener.cloud/gardener-resource-manager";

fn secret(finalizers: &[&str]) -> Arc<Metadata> {
    let metadata =
        json!({"name": "mr", "namespace": "default", "resourceVersion": "7", "finalizers": finalizers});
    Arc::new(serde_json::from_value(json!({"metadata": metadata})).unwrap())
}

fn being_deleted(finalizers: &[&str]) -> Arc<Metadata> {
    let mut secret = Metadata::clone(&secret(finalizers));
    secret.metadata.deletion_timestamp = serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap();
    Arc::new(secret)
}

fn own(finalizers: &[&str]) -> Vec<String> {
    finalizers.iter().map(|finalizer| (*finalizer).to_owned()).collect()
}

#[rstest]
#[case::held_and_referred_to(Some(secret(&[FINALIZER])), true, vec![])]
#[case::free_and_not_referred_to(Some(secret(&["other"])), false, vec![])]
#[case::gone(None, true, vec![])]
#[case::to_be_held(Some(secret(&["other"])), true, vec![Action::AddFinalizer(own(&["other", FINALIZER]))])]
#[case::to_be_held_but_being_deleted(Some(being_deleted(&["other"])), true, vec![])]
#[case::being_deleted_and_to_be_released(Some(being_deleted(&["other", FINALIZER])), false, vec![Action::RemoveFinalizer(own(&["other"]))])]
#[case::to_be_released(Some(secret(&["other", FINALIZER])), false, vec![Action::RemoveFinalizer(own(&["other"]))])]
#[case::of_another_class(Some(secret(&["resources.gardener.cloud/gardener-resource-manager-seed"])), false, vec![])]
fn a_secret_has_the_finalizer_as_long_as_it_is_referred_to(
    #[case] secret: Option<Arc<Metadata>>,
    #[case] is_referred_to: bool,
    #[case] actions: Vec<Action>,
) {
    assert_eq!(plan(FINALIZER, &State { secret, is_referred_to }), actions);
}

fn reconciler(server: &ApiServer) -> Reconciler {
    let client = Client::new(server.clone(), "default");
    let source = Cluster::new("source", client.clone(), CacheOptions::default(), Entropy::seeded(0));
    Reconciler {
        secrets: source.store(Selection::all()),
        managed_resources: source.store(Selection::all()),
        class: Class::new(""),
        finalizer: FINALIZER.to_owned(),
        client,
    }
}

async fn outcome(server: &ApiServer, action: Action) -> Result<(), String> {
    let state = State { secret: Some(secret(&[])), is_referred_to: true };
    let done = reconciler(server).execute(&Request::new("default", "mr"), &state, action).await;
    done.map_err(|error| controller::describe_error(&error))
}

#[tokio::test(start_paused = true)]
async fn removing_the_finalizer_of_a_deleted_secret_succeeds_and_adding_fails() {
    let server = ApiServer::builder().build();
    assert_eq!(outcome(&server, Action::RemoveFinalizer(Vec::new())).await, Ok(()));
    let message = outcome(&server, Action::AddFinalizer(own(&[FINALIZER]))).await;
    assert_eq!(message, Err("failed to add finalizer: secrets \"mr\" not found".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn refusals_are_reported_and_a_changed_secret_is_not_written() {
    let server = ApiServer::builder().build();
    let secrets: Api<Secret> = Api::namespaced(Client::new(server.clone(), "default"), "default");
    let object = serde_json::from_value(json!({"metadata": {"name": "mr"}})).unwrap();
    secrets.create(&PostParams::default(), &object).await.unwrap();
    let message = outcome(&server, Action::RemoveFinalizer(Vec::new())).await.unwrap_err();
    assert!(
        message.starts_with("failed to remove finalizer: Operation cannot be fulfilled on "),
        "{message}"
    );
    server
        .faults()
        .add(Fault::new(Matching::resource("", "secrets"), Effect::Refuse(Refusal::InternalError)));
    let message = outcome(&server, Action::AddFinalizer(own(&[FINALIZER]))).await;
    assert_eq!(
        message,
        Err("failed to add finalizer: Internal error occurred: etcdserver: leader changed".to_owned())
    );
}
