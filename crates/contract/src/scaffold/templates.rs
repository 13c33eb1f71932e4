//! One template for each form. Each loads and lints clean; `{name}`, `{component}` and `{id}` are filled in.

/// The template of a form.
pub(super) fn of(form: &str) -> Option<&'static str> {
    Some(match form {
        "mutation" => MUTATION,
        "validation" => VALIDATION,
        "registration" => REGISTRATION,
        "scenario" => SCENARIO,
        "configuration" => CONFIGURATION,
        "process" => PROCESS,
        "flags" => FLAGS,
        "objects" => OBJECTS,
        "versions" => VERSIONS,
        _ => return None,
    })
}

const MUTATION: &str = r"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata:
  name: {name}
  labels: {component: {component}}
spec:
  form: mutation
  source: {document: docs/concepts/{component}.md, version: v1.82, section: Name of the Section}
  target: {webhook: {name}, handles: [v1 pods]}
  onlyTouches: [spec.schedulerName]
  config: {}
  clauses:
  - id: {id}
    text: one sentence that says what holds
    table: |
      | scheduler         | becomes   |
      | default-scheduler | mine      |
      | other             | unchanged |
    given: {object: {like: pod, spec: {schedulerName: <scheduler>}}}
    when: {admission: CREATE}
    then: {object: {spec: {schedulerName: <becomes>}}}
";

const VALIDATION: &str = r#"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata:
  name: {name}
  labels: {component: {component}}
spec:
  form: validation
  source: {document: docs/concepts/{component}.md, version: v1.82, section: Name of the Section}
  target: {webhook: {name}, handles: [v1 pods]}
  clauses:
  - id: {id}
    text: one sentence that says what is refused
    table: |
      | host network | allowed | message                     |
      | ~            | true    | absent                      |
      | true         | false   | "the whole message, quoted" |
    given: {object: {like: pod, spec: {hostNetwork: <host network>}}}
    when: {admission: CREATE}
    then: {allowed: <allowed>, message: <message>}
"#;

const REGISTRATION: &str = r"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata:
  name: {name}
  labels: {component: {component}}
spec:
  form: mutation
  source: {document: docs/concepts/{component}.md, version: v1.82, section: Name of the Section}
  target: {webhook: {name}, handles: [v1 pods]}
  onlyTouches: [spec.schedulerName]
  clauses:
  - id: {id}
    text: one sentence that says how the webhook is registered
    when: {registration: shoot}
    then: {registration: {webhooks: [{name: {name}.resources.gardener.cloud, failurePolicy: Fail, timeoutSeconds: 10}]}}
";

const SCENARIO: &str = r"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata:
  name: {name}
  labels: {component: {component}}
spec:
  form: scenario
  source: {document: docs/concepts/{component}.md, version: v1.82, section: Name of the Section}
  target: {controller: {name}}
  clauses:
  - id: {id}
    text: one sentence that says what the controller brings about
    faults: [watchDrop, conflictOnce]
    given: {cluster: [{like: configmap, metadata: {name: a}, data: {key: old}}]}
    steps:
    - {name: marked, eventually: {cluster: {configmap/a: {metadata: {labels: {checked: 'true'}}}}}}
    - name: changed
      do: {cluster: {patch: {configmap/a: {data: {key: new}}}}}
      witness: {reconciles: {name}}
      never: {writes: configmap/a}
";

const CONFIGURATION: &str = r#"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata:
  name: {name}
  labels: {component: {component}}
spec:
  form: configuration
  source: {code: pkg/{component}/apis/config/v1alpha1/defaults.go, version: v1.82.0}
  config: {}
  clauses:
  - id: {id}
    text: one sentence that says which values start the component, and which default a field has
    table: |
      | period | starts | effective period | causes                                                                           |
      | ~      | true   | 1m0s             | any                                                                              |
      | 30s    | true   | 30s              | any                                                                              |
      | -1s    | false  | any              | [{field: syncPeriod, message: {$matches: "Invalid value: .*: must be positive"}}] |
    config: {syncPeriod: <period>}
    then: {starts: <starts>, effective: {syncPeriod: <effective period>}, causes: <causes>}
"#;

const PROCESS: &str = r#"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata:
  name: {name}
  labels: {component: {component}}
spec:
  form: process
  source: {code: cmd/gardener-{component}/app/app.go, version: v1.82.0}
  clauses:
  - id: {id}
    text: one sentence that says with which code and output the program ends
    table: |
      | argument  | code | output                    |
      | --version | 0    | {$matches: "(?s).*v.*"}   |
      | --no-such | 1    | {$matches: "(?s).*flag.*"} |
    when: {run: [<argument>]}
    then: {exitCode: <code>, output: <output>}
"#;

const FLAGS: &str = r"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata:
  name: {name}
  labels: {component: {component}}
spec:
  form: flags
  source: {document: docs/extensions/controlplane-webhooks.md, version: v1.98, section: kube-scheduler}
  target: {webhook: controlplane, handles: [apps/v1 deployments], container: kube-scheduler}
  onlyTouches: ['spec.template.spec.containers[kube-scheduler].command', 'spec.template.spec.containers[kube-scheduler].args']
  parameters: {gates: [AllAlpha=false]}
  given:
    namespace: {like: control-plane-namespace}
    object: {like: kube-scheduler}
  when: {admission: CREATE}
  flags: |
    | id   | flag             | emits   | webhook | level  | needs |
    | {id} | --config         | present | keeps   | MUST   |       |
    | {id} | --cloud-provider | absent  | absent  | MUST   |       |
    | {id} | --feature-gates | any | has $gates | MUST | |
  clauses:
  - {id: {id}, text: one sentence that says which flags belong to Gardener}
";

const OBJECTS: &str = r"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata:
  name: {name}
  labels: {component: {component}}
spec:
  form: objects
  source: {document: docs/extensions/controlplane-webhooks.md, version: v1.98, section: kube-scheduler}
  namespaces:
    one: {gardener: v1.82.0, objects: [{like: configmap, metadata: {name: app, namespace: one, labels: {example.com/owner: app}}}]}
  clauses:
  - id: {id}
    text: one sentence that says what each object has
    object: configmap/app
    emits: {metadata: {labels: {example.com/owner: app}}}
    breaks:
    - {case: without the label, change: {configmap/app: {metadata: {labels: {example.com/owner: ~}}}}}
";

const VERSIONS: &str = r#"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata:
  name: {name}
  labels: {component: {component}}
spec:
  form: versions
  source: {document: docs/usage/shoot_versions.md, version: v1.82, section: Name of the Section}
  onlyTouches: [spec.kubernetes.version]
  now: 2024-06-01T00:00:00Z
  runsOn: [decision, reconcile]
  cloudProfile: |
    | version  | classification | expires |
    | "1.27.4" | supported      |         |
    | "1.27.3" | deprecated     | +30d    |
  clauses:
  - id: {id}
    text: one sentence that says what holds
    table: |
      | current  | autoUpdate | becomes   | reason                                      |
      | "1.27.3" | true       | "1.27.4"  | AutoUpdate of Kubernetes version configured |
      | "1.27.3" | false      | unchanged | absent                                      |
"#;
