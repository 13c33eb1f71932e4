//! Extensions without a webhook for control planes: what `init` and `verify` say of operating systems, networks, and what a
//! provider registers beside its control planes.

use std::fs;
use std::path::Path;

use crate::program::call;

/// Controllers only, as an extension for operating systems.
const CONTROLLERS: &str = "\
apiVersion: conformance.gardener.cloud/v1alpha1
kind: Target
metadata: {name: os}
spec:
  gardener: v1.84.0
  command: [./os, --kubeconfig=<sourceKubeconfig>, '--metrics-bind-address=127.0.0.1:<metricsPort>']
  ready: http://127.0.0.1:<metricsPort>/metrics
";

/// A webhook in the garden that validates Shoots, as an extension for networks.
const GARDEN: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: network}
webhooks:
- name: validation.network.networking.extensions.gardener.cloud
  rules:
  - {apiGroups: [core.gardener.cloud], apiVersions: [v1alpha1, v1beta1], operations: [CREATE, UPDATE], resources: [shoots]}
  objectSelector: {matchLabels: {networking.extensions.gardener.cloud/network: 'true'}}
  clientConfig: {url: 'https://127.0.0.1:9/webhooks/validate'}
";

/// The target file of that webhook.
const NETWORK: &str = "\
apiVersion: conformance.gardener.cloud/v1alpha1
kind: Target
metadata: {name: network}
spec: {url: 'https://127.0.0.1:9', registration: garden.yaml}
";

fn write(folder: &Path) {
    let empty = "apiVersion: v1\nkind: List\nitems: []\n";
    let files =
        [("none.yaml", empty), ("os.yaml", CONTROLLERS), ("garden.yaml", GARDEN), ("network.yaml", NETWORK)];
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// The tool starts nothing and sends nothing: it has no contract for the target, and exits with 4.
#[test]
fn an_extension_without_a_webhook_for_control_planes_learns_that_no_contract_is_about_it() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let nothing = "an extension without one (most of those for operating systems and networks) has nothing";
    let validating = "validation.network.networking.extensions.gardener.cloud (shoots.core.gardener.cloud, /webhooks/validate)";
    let programs = "nothing says that the target is one of them";
    let controllers = "the target file has `ready` and no `url`, so the target has no webhook";
    let commands: [(&[&str], u8, [&str; 2]); 7] = [
        (
            &["init", "provider", "--mutating-webhook-configuration", "none.yaml"],
            4,
            ["registers no webhook", nothing],
        ),
        (&["init", "provider", "--mutating-webhook-configuration", "garden.yaml"], 4, [validating, nothing]),
        (
            &["init", "provider", "--command", "./os --kubeconfig=<sourceKubeconfig>"],
            2,
            ["write <port>", nothing],
        ),
        (&["verify", "--target", "os.yaml"], 4, [controllers, programs]),
        (&["verify", "--target", "os.yaml", "--suite", "controlplane"], 4, [controllers, nothing]),
        (&["attest", "--target", "os.yaml", "--into", "."], 4, [controllers, programs]),
        (&["verify", "--target", "network.yaml", "--insecure"], 4, ["no contract of everything", validating]),
    ];
    for (command, code, texts) in commands {
        call(folder.path(), command).assert_exit(code.into(), &texts);
    }
    assert!(!folder.path().join("reports").exists(), "no run, no report");
    // The tool runs a suite that the user names; nothing listens there.
    let named = ["verify", "--target", "network.yaml", "--insecure", "--suite", "controlplane"];
    let beside = "registered, but not verified, because no contract is about it";
    call(folder.path(), &named).assert_exit(3, &[beside, validating]);
}

/// The contracts of a Gardener program apply to another program only if the user declares that it is this program.
#[test]
fn a_program_is_no_other_program_unless_someone_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here);
    fs::write(here.join("said.yaml"), format!("{CONTROLLERS}  suite: scheduler\n")).unwrap();
    let by_suite = call(here, &["verify", "--target", "said.yaml", "--sample", "1"]);
    let by_label = ["verify", "--target", "os.yaml", "--label", "component=scheduler", "--sample", "1"];
    for result in [by_suite, call(here, &by_label)] {
        // There is no program `./os`; but there are contracts for it.
        result.assert_exit(3, &["failed to start ./os"]);
        assert!(!result.err.contains("left out"), "{}", result.err);
    }
    call(here, &["verify", "--target", "command=./os --port=<port>"])
        .assert_exit(3, &["left out", "about the programs of admission-controller, controller-manager"]);
}
