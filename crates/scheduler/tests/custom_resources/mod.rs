//! A garden whose Shoots are custom resources of a real kube-apiserver, which serves no subresource `binding`.

use std::time::Duration;

use api::garden::Shoot;
use component::{Clusters, garden};
use controller::Entropy;
use controller::config::Configuration as _;
use gardener_scheduler::config::SchedulerConfiguration;
use kube::api::Api;
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;
use substrate::facts;

const SUBRESOURCE: &str = "/binding";
/// What no server has.
const UNSERVED: &str = "/unserved";
/// Maximum number of reads of the Shoot.
const LOOKS: usize = 1200;

fn objects() -> [Value; 3] {
    [
        json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile", "metadata": {"name": "local"},
            "spec": {"type": "local", "regions": [], "machineTypes": [], "machineImages": [], "kubernetes": {}},
        }),
        json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Seed", "metadata": {"name": "east"},
            "spec": {
                "provider": {"type": "local", "region": "local"}, "dns": {},
                "networks": {"pods": "10.1.0.0/16", "services": "10.2.0.0/16"},
            },
            "status": {
                "lastOperation": {"type": "Reconcile", "state": "Succeeded"},
                "conditions": [{"type": "GardenletReady", "status": "True"}],
            },
        }),
        json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
            "metadata": {"name": "app", "namespace": "garden-dev"},
            "spec": {
                "cloudProfileName": "local", "region": "local", "kubernetes": {"version": "1.27.3"},
                "provider": {"type": "local", "workers": []},
            },
        }),
    ]
}

#[tokio::test]
async fn the_seed_is_written_with_the_shoot_where_there_is_no_subresource_for_it() {
    let server = Embedded::start(false, None).await.expect("it is served");
    let cluster = Cluster::new(server.client());
    facts::write_namespace(&cluster, "garden-dev", None).await.expect("it is written");
    for object in objects() {
        facts::write(&cluster, &object).await.expect("it is written");
    }
    let client = server.client_through("scheduler", |request| {
        let uri = request.uri().to_string();
        let (path, query) = uri.split_once('?').unwrap_or((&uri, ""));
        if let Some(path) = path.strip_suffix(SUBRESOURCE) {
            *request.uri_mut() = format!("{path}{UNSERVED}?{query}").parse().expect("it is a URI");
        }
    });
    let config = SchedulerConfiguration::from_partial(&json!({})).expect("it is valid");
    let clusters = Clusters {
        source: client,
        target: None,
        now: server.now(),
        entropy: Entropy::seeded(0),
        elector: None,
    };
    let running = garden::run(config, clusters);
    let shoots: Api<Shoot> = Api::namespaced(server.client(), "garden-dev");
    let mut looks = 0;
    let shoot = loop {
        let shoot = shoots.get("app").await.expect("it is there");
        if shoot.spec.seed_name.is_some() || looks == LOOKS {
            break shoot;
        }
        looks += 1;
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    drop(running);
    assert_eq!(shoot.spec.seed_name.as_deref(), Some("east"));
    assert_eq!(shoot.status.last_operation, None, "nothing is reported");
}
