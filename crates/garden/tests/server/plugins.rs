//! The admission plugins of gardener-apiserver on a server with RBAC, called by a user who may write Gardener's kinds.

use std::sync::Arc;

use apiserver::{ApiServer, Authorization};
use gardener_garden::admission::Chain;
use gardener_garden::strategies;
use kube::Client;
use serde_json::{Value, json};

use super::{CORE, NAMESPACE, PROJECT, SHOOT, TestGarden, collection, fixture, project, seed, shoot};

const ALICE: &str = "alice";

/// A garden with plugins: a profile, a registration, a Seed, a Project, and a SecretBinding.
async fn garden(chain: Chain) -> TestGarden {
    let builder = ApiServer::builder()
        .typed_kinds(strategies::typed_kinds())
        .admission(Arc::new(chain))
        .authorization(Authorization::Rbac)
        .epoch("2024-06-01T00:00:00Z".parse().expect("a constant"));
    let server = builder.namespace(NAMESPACE).namespace("garden").build();
    let garden = TestGarden { client: Client::new(server, "default") };
    let profile = fixture(include_str!("../../../../contracts/fixtures/cloudprofile.yaml"));
    garden.create("cloudprofiles", &profile).await;
    garden.create("controllerregistrations", &registration()).await;
    garden.create("seeds", &seed("local")).await;
    garden.create("projects", &project()).await;
    allow_alice(&garden).await;
    let secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "local", "namespace": NAMESPACE}});
    let secrets = format!("/api/v1/namespaces/{NAMESPACE}/secrets");
    let (code, made) = garden.send("POST", &secrets, "application/json", &secret).await;
    assert_eq!(code, 201, "{made}");
    garden
}

fn registration() -> Value {
    let kinds = ["ControlPlane", "Infrastructure", "Worker", "DNSRecord", "BackupBucket", "BackupEntry"];
    let mut resources: Vec<Value> = kinds.map(|kind| json!({"kind": kind, "type": "local"})).to_vec();
    resources.push(json!({"kind": "Network", "type": "calico"}));
    resources.push(json!({"kind": "OperatingSystemConfig", "type": "gardenlinux"}));
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "ControllerRegistration", "metadata": {"name": "local"},
        "spec": {"resources": resources},
    })
}

/// She may write Gardener's kinds, has no custom verb, and may not read Secrets.
async fn allow_alice(garden: &TestGarden) {
    const GROUP: &str = "rbac.authorization.k8s.io";
    let verbs = ["get", "list", "create", "update", "patch", "delete", "deletecollection"];
    let allowed = json!({"apiGroups": ["core.gardener.cloud"], "resources": ["*"], "verbs": verbs});
    let api_version = format!("{GROUP}/v1");
    let role = json!({
        "apiVersion": api_version, "kind": "ClusterRole", "metadata": {"name": ALICE}, "rules": [allowed],
    });
    garden.create("clusterroles", &role).await;
    let binding = json!({
        "apiVersion": api_version, "kind": "ClusterRoleBinding", "metadata": {"name": ALICE},
        "subjects": [{"apiGroup": GROUP, "kind": "User", "name": ALICE}],
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": ALICE},
    });
    garden.create("clusterrolebindings", &binding).await;
}

/// Sends a request of alice.
async fn send(garden: &TestGarden, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let form = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let headers = [("content-type", form), ("impersonate-user", ALICE)];
    let (code, _, answer) = garden.exchange(method, path, &headers, body).await;
    (code, answer)
}

fn secret_binding() -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
        "metadata": {"name": "local", "namespace": NAMESPACE},
        "secretRef": {"name": "local", "namespace": NAMESPACE}, "provider": {"type": "local"},
    })
}

fn message(answer: &Value) -> &str {
    answer["message"].as_str().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn a_reference_must_exist_and_be_readable() {
    let garden = garden(Chain::default()).await;
    let shoots = collection("shoots", &shoot());
    let (code, refused) = send(&garden, "POST", &shoots, &shoot()).await;
    let why = "shoots.core.gardener.cloud \"app\" is forbidden: secretbinding.core.gardener.cloud \"local\" not found";
    assert_eq!((code, message(&refused)), (403, why));
    let details = json!({"group": "core.gardener.cloud", "kind": "shoots", "name": "app"});
    assert_eq!((&refused["reason"], &refused["details"]), (&json!("Forbidden"), &details));
    let bindings = collection("secretbindings", &secret_binding());
    let (code, refused) = send(&garden, "POST", &bindings, &secret_binding()).await;
    let why = "secretbindings.core.gardener.cloud \"local\" is forbidden: SecretBinding cannot reference a secret you are not \
               allowed to read";
    assert_eq!((code, message(&refused)), (403, why));
    let mut missing = secret_binding();
    missing["secretRef"]["name"] = json!("x");
    let (code, refused) = garden.send("POST", &bindings, "application/json", &missing).await;
    let why = "secretbindings.core.gardener.cloud \"local\" is forbidden: secrets \"x\" not found";
    assert_eq!((code, message(&refused)), (403, why));
    garden.create("secretbindings", &secret_binding()).await;
    let (code, made) = send(&garden, "POST", &shoots, &shoot()).await;
    assert_eq!(code, 201, "{made}");
}

#[tokio::test(start_paused = true)]
async fn a_shoot_has_its_creator_and_the_labels_of_its_extensions() {
    let garden = garden(Chain::default()).await;
    garden.create("secretbindings", &secret_binding()).await;
    let mut object = shoot();
    object["metadata"]["annotations"] = json!({"gardener.cloud/created-by": "bob"});
    object["metadata"]["labels"] = json!({"a": "b", "provider.extensions.gardener.cloud/mine": "true"});
    let (code, made) = send(&garden, "POST", &collection("shoots", &object), &object).await;
    assert_eq!(code, 201, "{made}");
    assert_eq!(made["metadata"]["annotations"]["gardener.cloud/created-by"], ALICE);
    let want = json!({
        "a": "b", "networking.extensions.gardener.cloud/calico": "true",
        "operatingsystemconfig.extensions.gardener.cloud/gardenlinux": "true",
        "provider.extensions.gardener.cloud/local": "true",
    });
    assert_eq!(made["metadata"]["labels"], want);
    let change =
        json!({"metadata": {"labels": {"a": null, "provider.extensions.gardener.cloud/local": null}}});
    let (_, changed) = send(&garden, "PATCH", &format!("{SHOOT}/status"), &change).await;
    assert_eq!(changed["metadata"]["labels"]["provider.extensions.gardener.cloud/local"], "true");
    let network = json!({"spec": {"networking": {"type": "other"}}});
    let (code, refused) = send(&garden, "PATCH", SHOOT, &network).await;
    // The plugin speaks after validation, which finds the network immutable.
    assert_eq!(code, 422, "{refused}");
    let mut other = shoot();
    other["metadata"]["name"] = json!("other");
    other["spec"]["networking"]["type"] = json!("none");
    other["spec"]["dns"]["domain"] = json!("other.dev.example.com");
    let (code, refused) = send(&garden, "POST", &collection("shoots", &other), &other).await;
    let why = "shoots.core.gardener.cloud \"other\" is forbidden: 1 error occurred:\n\t* given Shoot uses non-registered given \
               Shoot uses non-registered networking type: spec.networking.type (\"none\")\n\n";
    assert_eq!((code, message(&refused)), (403, why));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_is_confirmed() {
    let garden = garden(Chain::default()).await;
    garden.create("secretbindings", &secret_binding()).await;
    garden.create("shoots", &shoot()).await;
    let why = "shoots.core.gardener.cloud \"app\" is forbidden: must have a \"confirmation.gardener.cloud/deletion\" annotation to \
               delete";
    let (code, refused) = send(&garden, "DELETE", SHOOT, &Value::Null).await;
    assert_eq!((code, message(&refused)), (403, why));
    let (code, refused) = send(&garden, "DELETE", &collection("shoots", &shoot()), &Value::Null).await;
    let listed = format!("1 error occurred:\n\t* {why}\n\n");
    assert_eq!((code, message(&refused), refused.get("reason")), (500, listed.as_str(), None));
    let confirmed = json!({"metadata": {"annotations": {"confirmation.gardener.cloud/deletion": "true"}}});
    send(&garden, "PATCH", SHOOT, &confirmed).await;
    let (code, _) = send(&garden, "DELETE", SHOOT, &Value::Null).await;
    assert_eq!(code, 200);
    let (code, refused) = send(&garden, "DELETE", SHOOT, &Value::Null).await;
    assert_eq!(code, 404, "{refused}");
}

#[tokio::test(start_paused = true)]
async fn some_changes_of_a_project_need_a_verb() {
    let garden = garden(Chain::default()).await;
    let (_, stored) = garden.get(PROJECT).await;
    let admin = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:admin"});
    assert_eq!((&stored["spec"]["createdBy"], &stored["spec"]["owner"]), (&admin, &admin));
    assert_eq!(stored["spec"]["members"][0]["role"], "admin");
    let (code, refused) =
        send(&garden, "PATCH", PROJECT, &json!({"spec": {"tolerations": {"whitelist": []}}})).await;
    let why = "projects.core.gardener.cloud \"dev\" is forbidden: user \"alice\" is not allowed to modify \
               .spec.tolerations.whitelist for \"projects\"";
    // The default toleration would no longer be allowed, which validation says first.
    assert_eq!(code, 422, "{refused}");
    let none = json!({"spec": {"tolerations": null}});
    let (code, refused) = send(&garden, "PATCH", PROJECT, &none).await;
    assert_eq!((code, message(&refused)), (403, why));
    let member =
        json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "bob", "role": "admin"});
    let members = json!({"spec": {"members": [admin, member]}});
    let (code, refused) = send(&garden, "PATCH", PROJECT, &members).await;
    let why = "projects.core.gardener.cloud \"dev\" is forbidden: user \"alice\" is not allowed to manage human users or groups in \
               .spec.members for \"projects\"";
    assert_eq!((code, message(&refused)), (403, why));
    let own = json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Project", "metadata": {"name": "own"},
        "spec": {"namespace": "garden-own", "members": [{"kind": "User", "name": "bob", "role": "viewer"}]},
    });
    let (code, made) = send(&garden, "POST", &format!("{CORE}/projects"), &own).await;
    assert_eq!((code, &made["spec"]["owner"]["name"]), (201, &json!(ALICE)));
    let roles: Vec<_> = made["spec"]["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| (&of["name"], &of["role"], &of["roles"]))
        .collect();
    assert_eq!(
        roles,
        [
            (&json!("bob"), &json!("viewer"), &Value::Null),
            (&json!(ALICE), &json!("admin"), &json!(["owner"]))
        ]
    );
    let mut taken = own.clone();
    taken["metadata"]["name"] = json!("taken");
    let (code, refused) = send(&garden, "POST", &format!("{CORE}/projects"), &taken).await;
    let why = "projects.core.gardener.cloud \"taken\" is forbidden: namespace \"garden-own\" is already used by another project";
    assert_eq!((code, message(&refused)), (403, why));
    taken["spec"]["namespace"] = json!("elsewhere");
    let (code, refused) = send(&garden, "POST", &format!("{CORE}/projects"), &taken).await;
    let why = "projects.core.gardener.cloud \"taken\" is forbidden: .spec.namespace must start with garden-";
    assert_eq!((code, message(&refused)), (403, why));
}

#[tokio::test(start_paused = true)]
async fn a_used_seed_stays_and_a_plugin_may_be_off() {
    let off = ["DeletionConfirmation".to_owned()];
    let garden = garden(Chain::choose(&[], &off).expect("a plugin")).await;
    garden.create("secretbindings", &secret_binding()).await;
    garden.create("shoots", &shoot()).await;
    let seed = format!("{CORE}/seeds/local");
    let (code, refused) = send(&garden, "DELETE", &seed, &Value::Null).await;
    let why = "seeds.core.gardener.cloud \"local\" is forbidden: cannot delete seed local since it is still used by shoot(s)";
    assert_eq!((code, message(&refused)), (403, why));
    let zones = json!({"spec": {"provider": {"zones": ["a", "b"]}}});
    let (code, refused) = send(&garden, "PATCH", &seed, &zones).await;
    let why = "Seed.core.gardener.cloud \"local\" is forbidden: cannot remove zones [c] from Seed local as there are Shoots \
               scheduled to this Seed";
    assert_eq!((code, message(&refused)), (403, why));
    assert_eq!(send(&garden, "DELETE", SHOOT, &Value::Null).await.0, 200);
    assert_eq!(send(&garden, "DELETE", &seed, &Value::Null).await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn a_bastion_belongs_to_its_shoot() {
    let garden = garden(Chain::default()).await;
    garden.create("secretbindings", &secret_binding()).await;
    let shoot = garden.create("shoots", &shoot()).await;
    let bastion = json!({
        "apiVersion": "operations.gardener.cloud/v1alpha1", "kind": "Bastion",
        "metadata": {"name": "b", "namespace": NAMESPACE},
        "spec": {"shootRef": {"name": "app"}, "sshPublicKey": KEY, "ingress": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]},
    });
    let made = garden.create("bastions", &bastion).await;
    assert_eq!(
        (&made["spec"]["seedName"], &made["spec"]["providerType"]),
        (&json!("local"), &json!("local"))
    );
    assert_eq!(made["metadata"]["ownerReferences"][0]["uid"], shoot["metadata"]["uid"]);
    assert_eq!(made["metadata"]["annotations"]["gardener.cloud/created-by"], "system:admin");
    let mut missing = bastion.clone();
    missing["spec"]["shootRef"]["name"] = json!("x");
    let path = collection("bastions", &missing);
    let (code, refused) = garden.send("POST", &path, "application/json", &missing).await;
    let why = "Bastion.operations.gardener.cloud \"b\" is invalid: spec.shootRef.name: Invalid value: \"x\": shoot garden-dev/x not \
               found";
    assert_eq!((code, message(&refused)), (422, why));
}

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKC5XviQXPIq/WGAXLLj7s4oEraWZeuAYFHxODexrhLf";
