//! Generation, status, and operations that annotations request.

use serde_json::{Value, json};

use super::{CORE, NAMESPACE, PROJECT, SHOOT, TestGarden, project, seed, shoot};

const OPERATION: &str = "gardener.cloud/operation";

fn annotated(operation: &str) -> Value {
    json!({"metadata": {"annotations": {OPERATION: operation}}})
}

fn outcome(object: &Value) -> (i64, &str) {
    let generation = object["metadata"]["generation"].as_i64().unwrap_or_default();
    (generation, object["metadata"]["annotations"][OPERATION].as_str().unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn the_status_is_written_alone_and_a_new_object_has_none() {
    let garden = TestGarden::start().await;
    let mut object = project();
    object["status"] = json!({"phase": "Ready"});
    object["metadata"]["generation"] = json!(7);
    let made = garden.create("projects", &object).await;
    assert_eq!((made.get("status"), outcome(&made).0), (None, 1));
    let both =
        json!({"spec": {"purpose": "p"}, "status": {"phase": "Ready"}, "metadata": {"labels": {"a": "b"}}});
    let patched = garden.patch(PROJECT, "merge-patch", &both).await;
    assert_eq!(
        (patched.get("status"), outcome(&patched).0, &patched["spec"]["purpose"]),
        (None, 2, &json!("p"))
    );
    // Metadata that is written with the status is stored.
    let both =
        json!({"spec": {"purpose": "q"}, "status": {"phase": "Ready"}, "metadata": {"labels": {"a": "c"}}});
    let patched = garden.patch(&format!("{PROJECT}/status"), "merge-patch", &both).await;
    assert_eq!((&patched["status"]["phase"], outcome(&patched).0), (&json!("Ready"), 2));
    assert_eq!(
        (&patched["spec"]["purpose"], &patched["metadata"]["labels"]["a"]),
        (&json!("p"), &json!("c"))
    );
    let (code, refused) = garden
        .try_patch(&format!("{PROJECT}/status"), "merge-patch", &json!({"status": {"phase": null}}))
        .await;
    let message = "Project.core.gardener.cloud \"dev\" is invalid: status.phase: Invalid value: \"\": phase cannot be updated \
                   to an empty string";
    assert_eq!((code, &refused["message"]), (422, &json!(message)));
}

#[tokio::test(start_paused = true)]
async fn only_changes_of_the_spec_raise_the_generation() {
    let garden = TestGarden::start().await;
    garden.create("projects", &project()).await;
    let table = [
        (json!({"metadata": {"labels": {"a": "b"}}}), 1),
        (json!({"spec": {"members": []}}), 1),
        (json!({"spec": {"purpose": "p"}}), 2),
        (json!({"spec": {"purpose": "p"}}), 2),
        (json!({"metadata": {"generation": 9}}), 2),
        (json!({"metadata": {"finalizers": ["gardener"]}}), 2),
    ];
    for (patch, generation) in table {
        assert_eq!(outcome(&garden.patch(PROJECT, "merge-patch", &patch).await).0, generation, "{patch}");
    }
    let (code, deleted) = garden.send("DELETE", PROJECT, "application/json", &Value::Null).await;
    assert_eq!((code, outcome(&deleted).0), (200, 3));
    let again = garden.patch(PROJECT, "merge-patch", &json!({"metadata": {"labels": {"a": "c"}}})).await;
    assert_eq!(outcome(&again).0, 3);
}

#[tokio::test(start_paused = true)]
async fn kinds_without_a_generation_keep_the_one_that_a_client_sends() {
    let garden = TestGarden::start().await;
    let quota = |generation: Value| {
        json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Quota",
            "metadata": {"name": "a", "namespace": "garden-dev", "generation": generation},
            "spec": {"scope": {"apiVersion": "v1", "kind": "Secret"}, "metrics": {"cpu": "1"}},
        })
    };
    let made = garden.create("quotas", &quota(json!(5))).await;
    assert_eq!(outcome(&made).0, 5);
    let path = format!("{CORE}/namespaces/{NAMESPACE}/quotas/a");
    let patched = garden.patch(&path, "merge-patch", &json!({"spec": {"metrics": {"cpu": "2"}}})).await;
    assert_eq!(outcome(&patched).0, 5);
    // An unconditional update is allowed.
    let (code, replaced) = garden.send("PUT", &path, "application/json", &quota(json!(1))).await;
    assert_eq!((code, outcome(&replaced).0), (200, 5));
}

#[tokio::test(start_paused = true)]
async fn operations_of_a_seed_count_once_and_reconcile_is_removed() {
    let garden = TestGarden::start().await;
    let path = format!("{CORE}/seeds/local");
    let table = [
        (annotated("reconcile"), (2, "")),
        (annotated("renew-kubeconfig"), (3, "renew-kubeconfig")),
        (json!({"metadata": {"labels": {"a": "b"}}}), (3, "renew-kubeconfig")),
        (annotated("reconcile"), (4, "")),
        (
            json!({"spec": {"taints": [{"key": "t"}]}, "metadata": annotated("reconcile")["metadata"]}),
            (5, "reconcile"),
        ),
        (json!({"metadata": {"labels": {"a": "c"}}}), (5, "reconcile")),
    ];
    for (patch, want) in table {
        assert_eq!(outcome(&garden.patch(&path, "merge-patch", &patch).await), want, "{patch}");
    }
    let (code, refused) = garden.try_patch(&path, "merge-patch", &annotated("renew-kubeconfig")).await;
    assert_eq!(code, 422, "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("must not overwrite operation \"reconcile\""));
}

#[tokio::test(start_paused = true)]
async fn operations_of_a_backup_entry_count_by_name() {
    let garden = TestGarden::start().await;
    let entry = json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "BackupEntry",
        "metadata": {"name": "a", "namespace": NAMESPACE}, "spec": {"bucketName": "b", "seedName": "s"},
    });
    garden.create("backupentries", &entry).await;
    let path = format!("{CORE}/namespaces/{NAMESPACE}/backupentries/a");
    let forced = |text: &str| json!({"metadata": {"annotations": {"backupentry.core.gardener.cloud/force-deletion": text}}});
    let table = [
        (annotated("reconcile"), (2, "")),
        (annotated("migrate"), (3, "")),
        (annotated("foo"), (3, "foo")),
        (annotated("restore"), (4, "restore")),
        (json!({"metadata": {"labels": {"a": "b"}}}), (4, "restore")),
        (forced("yes"), (4, "restore")),
        (forced("1"), (5, "restore")),
        (forced("true"), (5, "restore")),
        (json!({"spec": {"bucketName": "c"}}), (6, "restore")),
    ];
    for (patch, want) in table {
        assert_eq!(outcome(&garden.patch(&path, "merge-patch", &patch).await), want, "{patch}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_shoot_counts_operations_by_the_state_of_its_last_one() {
    let garden = TestGarden::start().await;
    garden.create("shoots", &shoot()).await;
    assert_eq!(outcome(&garden.patch(SHOOT, "merge-patch", &annotated("reconcile")).await), (1, "reconcile"));
    let status =
        |kind: &str, state: &str| json!({"status": {"lastOperation": {"type": kind, "state": state}}});
    let at_status = format!("{SHOOT}/status");
    garden.patch(&at_status, "merge-patch", &status("Reconcile", "Succeeded")).await;
    let label = |text: &str| json!({"metadata": {"labels": {"a": text}}});
    assert_eq!(outcome(&garden.patch(SHOOT, "merge-patch", &label("b")).await), (2, ""));
    assert_eq!(
        outcome(&garden.patch(SHOOT, "merge-patch", &annotated("rotate-ca-start")).await),
        (3, "rotate-ca-start")
    );
    assert_eq!(outcome(&garden.patch(SHOOT, "merge-patch", &label("c")).await), (4, "rotate-ca-start"));
    garden.patch(&at_status, "merge-patch", &status("Reconcile", "Failed")).await;
    assert_eq!(outcome(&garden.patch(SHOOT, "merge-patch", &annotated("retry")).await), (5, ""));
    let migrated = garden.patch(&at_status, "merge-patch", &status("Migrate", "Succeeded")).await;
    assert_eq!(outcome(&migrated).0, 6);
}

#[tokio::test(start_paused = true)]
async fn a_bastion_is_kept_alive() {
    let garden = TestGarden::start().await;
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKC5XviQXPIq/WGAXLLj7s4oEraWZeuAYFHxODexrhLf ops";
    let bastion = json!({
        "apiVersion": "operations.gardener.cloud/v1alpha1", "kind": "Bastion",
        "metadata": {"name": "a", "namespace": NAMESPACE, "annotations": {OPERATION: "keepalive"}},
        "spec": {"shootRef": {"name": "app"}, "sshPublicKey": key, "ingress": [{"ipBlock": {"cidr": "1.2.3.4/32"}}]},
        "status": {"observedGeneration": 3},
    });
    let path = format!("/apis/operations.gardener.cloud/v1alpha1/namespaces/{NAMESPACE}/bastions");
    let (code, made) = garden.send("POST", &path, "application/json", &bastion).await;
    assert_eq!(code, 201, "{made}");
    let hour = (&made["status"]["lastHeartbeatTimestamp"], &made["status"]["expirationTimestamp"]);
    assert_eq!(hour, (&json!("2024-06-01T00:00:00Z"), &json!("2024-06-01T01:00:00Z")));
    assert_eq!((outcome(&made), &made["status"]["observedGeneration"]), ((1, ""), &json!(3)));
    let path = format!("{path}/a");
    let kept = garden.patch(&path, "merge-patch", &annotated("reconcile")).await;
    assert_eq!(outcome(&kept), (2, "reconcile"));
    let at_status = format!("{path}/status");
    let later = json!({"status": {"lastHeartbeatTimestamp": "2024-06-01T00:00:01Z"}});
    let (code, refused) = garden.try_patch(&at_status, "merge-patch", &later).await;
    assert_eq!(code, 422, "{refused}");
    let earlier = json!({"status": {"lastHeartbeatTimestamp": "2024-05-31T23:00:00Z"}});
    let patched = garden.patch(&at_status, "merge-patch", &earlier).await;
    assert_eq!(patched["status"]["expirationTimestamp"], "2024-06-01T00:00:00Z");
    let never = json!({"status": {"lastHeartbeatTimestamp": null}});
    assert_eq!(garden.try_patch(&at_status, "merge-patch", &never).await.0, 500);
}

#[tokio::test(start_paused = true)]
async fn the_identity_of_a_seeds_cluster_stays() {
    let garden = TestGarden::start().await;
    garden.create("seeds", &seed("other")).await;
    let path = format!("{CORE}/seeds/other/status");
    let identity = |text: Value| json!({"status": {"clusterIdentity": text}});
    garden.patch(&path, "merge-patch", &identity(json!("a"))).await;
    let (code, refused) = garden.try_patch(&path, "merge-patch", &identity(json!("b"))).await;
    let message = "Seed.core.gardener.cloud \"other\" is invalid: status.clusterIdentity: Invalid value: \"b\": field is immutable";
    assert_eq!((code, &refused["message"]), (422, &json!(message)));
}
