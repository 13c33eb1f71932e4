//! JSON Schemas of the files, for editors: completion of keys, words and operators. The loader is the judge.

use std::collections::BTreeMap;

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::load::words;

mod variations;

/// The schema of a type, draft 2020-12.
#[must_use]
pub fn of<T: JsonSchema>() -> Value {
    SchemaGenerator::new(SchemaSettings::draft2020_12()).into_root_schema_for::<T>().to_value()
}

/// The schema of a contract file.
#[must_use]
pub fn contract() -> Value {
    of::<File>()
}

/// The schema of a file of variations.
#[must_use]
pub fn variations() -> Value {
    of::<variations::VariationsFile>()
}

/// A contract: one behaviour and its clauses.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(title = "Contract")]
struct File {
    #[schemars(extend("const" = "conformance.gardener.cloud/v1alpha1"))]
    api_version: String,
    #[schemars(extend("const" = "Contract"))]
    kind: String,
    metadata: Metadata,
    spec: Spec,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Metadata {
    /// Name of the behaviour: pod-scheduler-name. The files of one name are one contract.
    name: String,
    /// `component` says whose behaviour it is.
    labels: BTreeMap<String, String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Spec {
    /// How it is written.
    #[schemars(extend("enum" = ["mutation", "validation", "flags", "configuration", "process", "objects", "versions", "scenario"]))]
    form: String,
    /// Source of all clauses that name none.
    source: Option<Source>,
    /// What the contract is about; a configuration needs none.
    target: Option<Target>,
    /// Path prefixes that the target may change; `[]` is any element.
    only_touches: Option<Vec<String>>,
    /// Lists whose order does not matter.
    unordered: Option<Vec<String>>,
    /// Keys of lists that the schema does not know: path → field.
    list_keys: Option<BTreeMap<String, String>>,
    /// Excused laws, each with its reason.
    #[schemars(schema_with = "laws")]
    exempt: Option<Value>,
    /// Component configuration that every case starts from.
    config: Option<Map<String, Value>>,
    /// What clauses name with `$parameter`, as a target has it that runs with `config`; others state their own.
    parameters: Option<Map<String, Value>>,
    /// Objects by name, that `like` starts from; they may hold the names of columns.
    fixtures: Option<BTreeMap<String, Value>>,
    /// Of versions: the time at which rows are asked, with its zone: `2024-06-01T00:00:00Z`.
    now: Option<String>,
    /// Of versions: what is offered, drawn (version, classification, expires), in words
    /// (`1.27.3 deprecated +30d, 1.28.0 preview`), or as a difference from the fixture.
    cloud_profile: Option<Value>,
    /// Of versions: images that are offered, drawn: name, version, classification, expires, architectures, cri, kubelet.
    machine_images: Option<Value>,
    /// Of versions: the Shoot that is asked of, as a difference from the fixture.
    shoot: Option<Value>,
    /// Of versions: where rows are asked: decision, admission, reconcile.
    runs_on: Option<Vec<String>>,
    /// Of versions: what is asked by clauses that say nothing of it.
    when: Option<When>,
    /// Of versions: what must hold where a clause says nothing of it.
    then: Option<Then>,
    /// Of flags: the table of them: id, flag, emits, webhook, level, needs.
    flags: Option<String>,
    /// Of flags: what stands before each request, as in a clause.
    given: Option<Given>,
    /// Of objects: namespaces of objects as Gardener emits them: `{workers: {gardener: v1.82.0, objects: [{like: …}]}}`; one
    /// may start `like` another, with a `change`.
    namespaces: Option<BTreeMap<String, Namespace>>,
    /// The clauses; of flags, what their rows do not say.
    clauses: Option<Vec<Clause>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Source {
    /// Public document, as Gardener's repository has it.
    document: Option<String>,
    /// Source file of the original, where only its code says it.
    code: Option<String>,
    /// Version of the document or the code.
    version: Option<String>,
    /// Heading of the section.
    section: Option<String>,
    /// Hash of the sentence: `lint --hash 'the words'`.
    #[schemars(regex(pattern = "^[0-9a-f]{8}$"))]
    sentence: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Target {
    /// Name of the webhook.
    webhook: String,
    /// Name of the controller.
    controller: Option<String>,
    /// Kinds that the registration must cover: `apps/v1 deployments`.
    handles: Option<Vec<String>>,
    /// Which of the component's registrations cases run under.
    #[schemars(extend("examples" = ["seed", "shoot"]))]
    instance: Option<String>,
    /// Of flags: the container whose command line has them.
    container: Option<String>,
    /// Of flags: the unit whose ExecStart has them.
    unit: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Clause {
    /// Never reused: GRM-HAC-001.
    id: String,
    /// The sentence, in our own words.
    text: String,
    /// How binding it is; MUST if absent.
    #[schemars(extend("enum" = ["MUST", "SHOULD", "MAY"]))]
    level: Option<String>,
    /// How binding it is to the letter (`--strict`), where Gardener itself does not keep it so.
    #[schemars(extend("enum" = ["MUST", "SHOULD", "MAY"]))]
    strict: Option<String>,
    /// Whom it binds; gardener if absent.
    #[schemars(extend("enum" = ["gardener", "extension", "both"]))]
    binds: Option<String>,
    /// Versions of the target it holds for, of control planes releases of Gardener: `>=1.58`.
    versions: Option<String>,
    /// Features of the target it needs: `shoot`, `not workerless`.
    needs: Option<Vec<String>>,
    /// Clauses without which this one means nothing.
    presupposes: Option<Vec<String>>,
    /// Numbered clauses of the reference.
    covers: Option<Vec<String>>,
    /// Implementations that differ, and why.
    differs: Option<BTreeMap<String, String>>,
    /// Where it comes from; what is left out is the contract's.
    source: Option<Source>,
    /// Registration that its cases run under.
    instance: Option<String>,
    /// Component configuration, merged over the contract's: a map, or a column of them.
    config: Option<Value>,
    /// Rows drawn with bars; `<column>` stands for a cell below.
    table: Option<String>,
    /// What is there before the request.
    given: Option<Given>,
    /// What is done; nothing where a component is configured.
    when: Option<When>,
    /// What must hold.
    then: Option<Then>,
    /// Of a scenario: what is done and seen, one after the other.
    steps: Option<Vec<Step>>,
    /// Faults that a scenario is repeated under.
    faults: Option<Vec<String>>,
    /// Of versions: the time at which rows are asked.
    now: Option<String>,
    /// Of versions: what is offered, in the place of what the contract says.
    cloud_profile: Option<Value>,
    /// Of versions: images that are offered, in the place of what the contract says.
    machine_images: Option<Value>,
    /// Of versions: a difference from the contract's Shoot.
    shoot: Option<Value>,
    /// Of versions: the Shoot before, as a difference from the contract's.
    old: Option<Value>,
    /// Of versions: where rows are asked: decision, admission, reconcile.
    runs_on: Option<Vec<String>>,
    /// Of versions: why the decision alone is asked.
    why: Option<String>,
    /// Of objects: which are meant: `deployment/kube-apiserver`, `deployment/*`.
    object: Option<Value>,
    /// Of objects: only those that keep this.
    r#where: Option<Value>,
    /// Of objects: what must be in the namespace for the clause to be asked.
    beside: Option<Value>,
    /// Of objects: what must not be in the namespace for the clause to be asked.
    without: Option<Value>,
    /// Of objects: what holds of each; `$present`: there is one, `$absent`: there is none.
    emits: Option<Value>,
    /// Of objects: a webhook may bring about what Gardener must not.
    #[schemars(extend("enum" = ["may add"]))]
    webhook: Option<String>,
    /// Of objects: changes that break the clause, and no other.
    breaks: Option<Vec<Break>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Namespace {
    /// The release of Gardener that it is of.
    gardener: Option<String>,
    /// The namespace that it starts from.
    like: Option<String>,
    /// What is in it: fixtures, or differences from them.
    objects: Option<Vec<Value>>,
    /// Differences by object: `deployment/kube-apiserver: {…}`; `~` takes one out.
    change: Option<Map<String, Value>>,
    /// Variations of which each combination makes a namespace.
    vary: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Break {
    /// What it is called.
    case: String,
    /// The namespace that is changed; the first in which the clause is asked.
    namespace: Option<String>,
    /// Differences by object; `~` takes one out, one that is not there is added with `like`.
    change: Map<String, Value>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Its name.
    name: String,
    /// How far the clock is moved first: `{to: 9h35m, after: first token}`.
    advance: Option<Value>,
    /// What another user does: `{sourceCluster: {touch: [secret/a]}}`, `{target: stop}`.
    r#do: Option<Map<String, Value>>,
    /// The controller that must have reconciled: `{reconciles: token-requestor}`.
    witness: Option<Value>,
    /// States that come about: `{targetCluster: {configmap/a: $present}}`.
    eventually: Option<Map<String, Value>>,
    /// States that a watcher sees in order.
    history: Option<Map<String, Value>>,
    /// What does not happen: `{writes: secret/a}`.
    never: Option<Map<String, Value>>,
    /// What the target sends: `{writes: 0}`, `{writes: 1, of: configmap/a}`, `{order: [create configmap/a]}`, `{perObject: 1}`.
    requests: Option<Value>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Given {
    /// Objects that exist already.
    cluster: Option<Vec<Value>>,
    /// The namespace of the object: a fixture, or a difference from one.
    namespace: Option<Value>,
    /// The object before an UPDATE or a DELETE.
    old: Option<Value>,
    /// The object of the request: `{like: pod, spec: …}`.
    object: Option<Value>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct When {
    /// CREATE, UPDATE, DELETE, CONNECT, or a list of them.
    #[schemars(schema_with = "operations")]
    admission: Option<Value>,
    /// All objects of a resource are deleted: `infrastructures.extensions.gardener.cloud`.
    delete_collection: Option<String>,
    /// Fields of the AdmissionRequest that are overridden; `~` removes one. No server sends such a request. Of a process: a request to
    /// a server of the program: `{server: probes, path: /healthz}`.
    #[schemars(schema_with = "request")]
    request: Option<Value>,
    /// Straight to the webhook, whatever its registration says.
    direct: Option<Value>,
    /// Version of the AdmissionReview: v1 or v1beta1.
    review: Option<Value>,
    /// The webhook configuration of an instance is read: seed, shoot, or a list of them.
    registration: Option<Value>,
    /// Of versions: maintenance, window, rolling, support.
    decide: Option<Value>,
    /// Beside maintenance: whether what is written passes the garden's admission.
    admitted: Option<Value>,
    /// Beside rolling: what the provider's extension adds to the hash.
    additional: Option<Value>,
    /// Beside support: the release of Gardener.
    gardener: Option<Value>,
    /// Beside support: garden, seed, shoot.
    cluster: Option<Value>,
    /// Beside support: the cluster's version of Kubernetes.
    version: Option<Value>,
    /// Of a process: the arguments with which the program runs to its end.
    run: Option<Vec<Value>>,
    /// Of a process: the signal that the running program receives, SIGTERM or SIGINT.
    signal: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Then {
    /// The resulting object; `$unchanged`: no patch at all.
    object: Option<Value>,
    /// Whether the request may proceed.
    allowed: Option<Value>,
    /// HTTP status of the refusal.
    code: Option<Value>,
    /// Status reason; of a maintenance, why versions were moved.
    reason: Option<Value>,
    /// Status message.
    message: Option<Value>,
    /// The whole set of field errors; implies 422 and Invalid.
    causes: Option<Vec<Cause>>,
    /// Whether the request is sent to the webhook at all.
    called: Option<Value>,
    /// The whole list of warnings.
    warnings: Option<Value>,
    /// Version of the AdmissionReview that is answered: v1 or v1beta1.
    review: Option<Value>,
    /// The webhook configuration, reduced to the webhook of the contract.
    registration: Option<Value>,
    /// Whether the component starts with the configuration.
    starts: Option<Value>,
    /// The configuration that the component works with: the file and the defaults.
    effective: Option<Value>,
    /// Of a process: the code with which the program ends; 128 and the signal's number if a signal ended it.
    exit_code: Option<Value>,
    /// Of a process: what the program wrote to standard output and standard error.
    output: Option<Value>,
    /// Of a process: the server's response: `{status, protocol, headers, body}`, or `{error}`.
    response: Option<Value>,
    /// Of versions: the Shoot as it is made, maintained or admitted.
    shoot: Option<Value>,
    /// Of a maintenance: every sentence that is told of it, in order.
    told: Option<Value>,
    /// Of a maintenance: what could not be decided, in order.
    failures: Option<Value>,
    /// The window in which work may begin: `{begin: "22:00:00", end: "22:45:00"}`.
    window: Option<Value>,
    /// Whether the Shoot is maintained now.
    maintained: Option<Value>,
    /// When the next window is, from now: the earliest and the latest time in it.
    next: Option<Value>,
    /// The same, where what is left of this window counts as the next.
    in_this: Option<Value>,
    /// The hash of the first pool.
    hash: Option<Value>,
    /// Whether the machines of the first pool are replaced.
    rolls: Option<Value>,
    /// Whether the version is supported.
    supported: Option<Value>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Cause {
    /// Field path as Kubernetes writes it.
    field: String,
    /// FieldValueRequired, FieldValueInvalid and so on.
    reason: Option<Value>,
    /// The message.
    message: Option<Value>,
}

fn laws(_: &mut SchemaGenerator) -> schemars::Schema {
    let properties: Map<String, Value> = words::laws()
        .map(|law| (law.to_owned(), json!({"type": "string", "description": "Why the law does not hold."})))
        .collect();
    object(&properties)
}

fn request(_: &mut SchemaGenerator) -> schemars::Schema {
    let fields = words::REQUEST.iter().chain(&words::WHEN_PROCESS_REQUEST);
    object(&fields.map(|field| ((*field).to_owned(), json!({}))).collect())
}

fn operations(_: &mut SchemaGenerator) -> schemars::Schema {
    let one = json!({"type": "string", "examples": words::OPERATIONS});
    schemars::json_schema!({"anyOf": [one, {"type": "array", "items": {"enum": words::OPERATIONS}}]})
}

fn object(properties: &Map<String, Value>) -> schemars::Schema {
    schemars::json_schema!({"type": "object", "properties": properties, "additionalProperties": false})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::decision::Question;

    fn questions() -> [Question; 5] {
        let text = String::new;
        [
            Question::Admission { operation: text() },
            Question::Maintenance { admitted: false },
            Question::Window,
            Question::Rolling { additional: Vec::new() },
            Question::Support { gardener: text(), cluster: text(), version: text() },
        ]
    }

    #[test]
    fn editors_complete_the_keys_of_variations() {
        let schema = variations();
        let keys = |of: &Value| -> BTreeSet<String> {
            of["properties"].as_object().expect("an object").keys().cloned().collect()
        };
        let known =
            |names: &[&str]| -> BTreeSet<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        assert_eq!(keys(&schema), known(&words::ROOT));
        assert_eq!(keys(&schema["$defs"]["VariationsSpec"]), known(&words::VARIATIONS));
        assert_eq!(schema["$defs"]["VariationsSpec"]["required"], json!(["axes", "change"]));
        let head = &schema["properties"]["kind"];
        assert_eq!(head["const"], "Variations");
    }

    #[test]
    fn editors_complete_the_keys_that_the_loader_knows() {
        let schema = contract();
        let keys = |of: &Value| -> BTreeSet<String> {
            of["properties"].as_object().expect("an object").keys().cloned().collect()
        };
        let of =
            |names: &[&str]| -> BTreeSet<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        assert_eq!(keys(&schema), of(&words::ROOT));
        let then = [&words::THEN_ANSWER[..], &words::THEN_REGISTRATION, &words::THEN_CONFIGURATION].concat();
        let told = questions().into_iter().flat_map(|question| question.tells().iter().copied());
        let then: Vec<&str> = then.into_iter().chain(told).collect();
        let spec =
            [&words::SPEC[..], &words::SPEC_VERSIONS, &words::SPEC_FLAGS, &words::SPEC_OBJECTS].concat();
        let clause = [&words::CLAUSE[..], &words::CLAUSE_VERSIONS, &words::CLAUSE_OBJECTS].concat();
        let when = [&words::WHEN[..], &words::WHEN_VERSIONS].concat();
        let table: [(&str, &[&str]); 11] = [
            ("Metadata", &words::METADATA),
            ("Spec", &spec),
            ("Source", &words::SOURCE),
            ("Target", &words::TARGET),
            ("Clause", &clause),
            ("Given", &words::GIVEN),
            ("When", &when),
            ("Then", &then),
            ("Cause", &words::CAUSE),
            ("Namespace", &words::NAMESPACE),
            ("Break", &words::BREAK),
        ];
        for (name, known) in table {
            assert_eq!(keys(&schema["$defs"][name]), of(known), "{name}");
        }
    }
}
