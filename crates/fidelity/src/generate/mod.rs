//! Generates sequences from a seed: all operations on a few objects of one or two kinds.

mod definitions;
mod dice;
mod objects;
mod odd;
mod options;
mod patches;
mod reads;
pub(crate) mod webhooks;
mod writes;

use dice::Dice;

use crate::kinds::Kind;
use crate::request::{Body, LastSeen, Request, Sequence};

/// The minimum and the maximum number of requests of a sequence.
const LENGTH: (usize, usize) = (14, 32);

/// What a request does.
#[derive(Clone, Copy)]
enum Operation {
    Create,
    Update,
    Json,
    Merge,
    Strategic,
    Apply,
    Get,
    List,
    Watch,
    Delete,
    DeleteCollection,
    Unsupported,
    Definition,
}

/// The operations that each sequence has, on an object of its main kind without subresources, so that each kind gets all of them
/// soon.
const REQUIRED: &[Operation] = &[
    Operation::Create,
    Operation::Update,
    Operation::Json,
    Operation::Merge,
    Operation::Strategic,
    Operation::Apply,
    Operation::Get,
    Operation::List,
    Operation::Watch,
    Operation::Delete,
    Operation::DeleteCollection,
];

/// All operations with the weights for further requests.
const WEIGHTED: &[(u32, Operation)] = &[
    (18, Operation::Create),
    (13, Operation::Update),
    (8, Operation::Json),
    (9, Operation::Merge),
    (8, Operation::Strategic),
    (11, Operation::Apply),
    (5, Operation::Get),
    (8, Operation::List),
    (5, Operation::Watch),
    (9, Operation::Delete),
    (4, Operation::DeleteCollection),
    (4, Operation::Unsupported),
    (3, Operation::Definition),
];

/// The percentage of sequences with webhooks.
const WITH_WEBHOOKS: u32 = 15;

/// Generates requests for an object.
struct RequestBuilder<'a> {
    dice: &'a mut Dice,
    kind: &'a Kind,
    name: &'static str,
    /// Whether requests have no subresource and no unknown media type.
    is_plain: bool,
    /// Whether the server has generated a name in this sequence. It may generate one only, as the order of two would be random.
    has_generated_name: &'a mut bool,
}

/// Generates the sequence with this number of a seed; kinds take turns.
///
/// # Panics
/// If there are no kinds.
#[must_use]
pub fn sequence(seed: u64, number: u64, kinds: &[&Kind]) -> Sequence {
    let mut dice = Dice::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number));
    let turn = usize::try_from(number % kinds.len() as u64).expect("less than the number of kinds");
    let (main, other) = (kinds[turn], *dice.pick(kinds));
    let length = LENGTH.0 + dice.below(LENGTH.1 - LENGTH.0 + 1);
    let mut requests = Vec::with_capacity(length);
    let has_generated_name = &mut false;
    if dice.percent(WITH_WEBHOOKS) {
        requests.push(
            RequestBuilder { dice: &mut dice, kind: main, name: "a", is_plain: true, has_generated_name }
                .webhook_configuration(),
        );
    }
    for name in ["a", "b"] {
        if dice.percent(85) {
            requests.push(
                RequestBuilder { dice: &mut dice, kind: main, name, is_plain: true, has_generated_name }
                    .valid_creation(),
            );
        }
    }
    for operation in operations(&mut dice, length - requests.len()) {
        let kind = if operation.is_some() || dice.percent(80) { main } else { other };
        let name = dice.weigh(&[(5, "a"), (3, "b"), (1, "c"), (1, "absent")]);
        let is_plain = operation.is_some();
        requests.push(
            RequestBuilder { dice: &mut dice, kind, name, is_plain, has_generated_name }.request(operation),
        );
    }
    if main.resource == "pods" {
        requests.extend(
            RequestBuilder { dice: &mut dice, kind: main, name: "c", is_plain: true, has_generated_name }
                .eviction_of_protected_pod(),
        );
    }
    Sequence { name: format!("seed {seed}, sequence {number}: {}", main.name()), requests }
}

/// Generates a sequence in which one operation succeeds on a kind, for a run in which it has succeeded too seldom.
#[must_use]
pub(crate) fn steered(seed: u64, number: u64, kind: &Kind, operation: &str) -> Option<Sequence> {
    let mut dice = Dice::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_sub(number));
    let has_generated_name = &mut false;
    let mut builder = RequestBuilder { dice: &mut dice, kind, name: "a", is_plain: true, has_generated_name };
    let requests = vec![builder.valid_creation(), builder.valid(operation)?];
    let name = format!("seed {seed}, steered sequence {number}: {operation} of {}", kind.name());
    Some(Sequence { name, requests })
}

/// `count` operations in random order: the required ones, and `None` for random ones.
fn operations(dice: &mut Dice, count: usize) -> Vec<Option<Operation>> {
    let mut operations: Vec<Option<Operation>> = REQUIRED.iter().copied().map(Some).collect();
    operations.resize(count.max(REQUIRED.len()), None);
    for last in (1..operations.len()).rev() {
        operations.swap(last, dice.below(last + 1));
    }
    operations
}

impl RequestBuilder<'_> {
    /// A request with this operation, or with a random one.
    fn request(&mut self, operation: Option<Operation>) -> Request {
        let random = self.dice.weigh(WEIGHTED);
        match operation.unwrap_or(random) {
            Operation::Create => self.create(),
            Operation::Update => self.update(),
            Operation::Json => self.json_patch(),
            Operation::Merge => self.merge_patch(),
            Operation::Strategic => self.strategic_patch(),
            Operation::Apply => self.apply(),
            Operation::Get => self.get(),
            Operation::List => self.list(),
            Operation::Watch => self.watch(),
            Operation::Delete => self.delete(),
            Operation::DeleteCollection => self.delete_collection(),
            Operation::Unsupported => self.unsupported(),
            Operation::Definition => self.definition(),
        }
    }

    /// A request with this operation that succeeds after the valid creation of the object.
    fn valid(&mut self, operation: &str) -> Option<Request> {
        let request =
            |method: &str, path: String| Request { method: method.to_owned(), path, ..Request::default() };
        let (path, collection) = (self.path(""), self.kind.collection());
        let of_sequence = || ("labelSelector".to_owned(), "of=${ns}".to_owned());
        Some(match operation {
            "create" => RequestBuilder { name: "b", ..self.reborrow() }.valid_creation(),
            "get" => request("GET", path),
            "list" => Request { query: [of_sequence()].into(), ..request("GET", collection) },
            "watch" => {
                let query = [of_sequence(), ("watch".to_owned(), "true".to_owned())].into();
                Request { query, ..request("GET", collection) }
            }
            "update" => {
                let seen = LastSeen { object: self.kind.key(self.name), ..LastSeen::default() };
                Request { body: Some(Body::Seen(seen)), ..request("PUT", path) }
            }
            "delete" => request("DELETE", path),
            "deletecollection" => Request { query: [of_sequence()].into(), ..request("DELETE", collection) },
            _ => self.valid_patch(operation.strip_prefix("patch ")?)?,
        })
    }

    /// The path of the object or of a subresource.
    fn path(&self, subresource: &str) -> String {
        let slash = if subresource.is_empty() { "" } else { "/" };
        format!("{}/{}{slash}{subresource}", self.kind.collection(), self.kind.object_name(self.name))
    }

    fn reborrow(&mut self) -> RequestBuilder<'_> {
        RequestBuilder {
            dice: self.dice,
            kind: self.kind,
            name: self.name,
            is_plain: self.is_plain,
            has_generated_name: self.has_generated_name,
        }
    }

    /// Sometimes a subresource of the kind; empty for the object itself.
    fn subresource(&mut self) -> &'static str {
        if self.is_plain {
            return "";
        }
        let known = &self.kind.subresources;
        if known.is_empty() || !self.dice.percent(22) {
            return if self.dice.percent(1) { "status" } else { "" };
        }
        if self.dice.pick(known) == "scale" { "scale" } else { "status" }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::exercise::Exercise;
    use crate::kinds;
    use crate::tally::REQUIRED_OPERATIONS;

    #[test]
    fn a_seed_determines_the_requests() {
        let kinds: Vec<&Kind> = kinds::all().iter().collect();
        let of = |seed| (0..20).map(|number| sequence(seed, number, &kinds).requests).collect::<Vec<_>>();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn the_server_generates_one_name_per_sequence_at_most() {
        let kinds: Vec<&Kind> = kinds::all().iter().collect();
        let is_nameless = |request: &Request| match &request.body {
            Some(Body::Json(object)) => {
                request.method == "POST"
                    && object["metadata"]["generateName"].is_string()
                    && object["metadata"]["name"].as_str().unwrap_or_default().is_empty()
            }
            _ => false,
        };
        let counts = (0..400).map(|number| {
            sequence(5, number, &kinds).requests.iter().filter(|request| is_nameless(request)).count()
        });
        assert_eq!(counts.max(), Some(1));
    }

    #[test]
    fn every_required_operation_can_be_steered_to() {
        for kind in kinds::all() {
            for operation in REQUIRED_OPERATIONS {
                let made = steered(1, 2, kind, operation).unwrap();
                let last = Exercise::of(made.requests.last().unwrap());
                assert_eq!(
                    (last.resource.as_str(), last.operation().as_str()),
                    (kind.name().as_str(), *operation)
                );
            }
        }
    }

    #[test]
    fn some_sequences_have_webhooks() {
        let kinds: Vec<&Kind> = kinds::all().iter().collect();
        let has_webhooks = |number: &u64| {
            sequence(5, *number, &kinds)
                .requests
                .iter()
                .any(|request| request.path.contains("webhookconfigurations"))
        };
        let count = (0..400).filter(has_webhooks).count();
        assert!((30..100).contains(&count), "{count}");
    }

    #[test]
    fn some_replaced_scales_have_a_uid() {
        let has_scale = |kind: &&Kind| kind.subresources.iter().any(|name| name == "scale");
        let kinds: Vec<&Kind> = kinds::all().iter().filter(has_scale).collect();
        let has_uid = |request: &Request| match &request.body {
            Some(Body::Json(scale)) => {
                request.method == "PUT"
                    && request.path.ends_with("/scale")
                    && scale["metadata"]["uid"].is_string()
            }
            _ => false,
        };
        assert!((0..400).any(|number| sequence(5, number, &kinds).requests.iter().any(has_uid)));
    }

    #[test]
    fn some_webhooks_change_the_type_of_a_version_or_a_kind() {
        let (mut dice, kind) = (Dice::new(5), &kinds::all()[0]);
        let mut configuration = || {
            let has_generated_name = &mut false;
            RequestBuilder { dice: &mut dice, kind, name: "a", is_plain: true, has_generated_name }
                .webhook_configuration()
        };
        let texts: Vec<String> = (0..2000).map(|_| json!(configuration()).to_string()).collect();
        for path in ["/apiVersion", "/kind"] {
            let change = format!("\"path\":\"{path}\",\"value\":[\"v1\"]");
            assert!(texts.iter().any(|text| text.contains(&change)), "{path}");
        }
    }

    #[test]
    fn each_sequence_has_all_required_operations_on_its_main_kind() {
        let kinds: Vec<&Kind> = kinds::all().iter().collect();
        for number in 0..kinds.len() as u64 {
            let made = sequence(3, number, &kinds);
            let name = kinds[usize::try_from(number).unwrap()].name();
            let operations: BTreeSet<String> = made
                .requests
                .iter()
                .map(Exercise::of)
                .filter(|exercise| exercise.resource == name)
                .map(|exercise| exercise.operation())
                .collect();
            let missing: Vec<&&str> =
                REQUIRED_OPERATIONS.iter().filter(|operation| !operations.contains(**operation)).collect();
            assert!(missing.is_empty(), "{}: {missing:?}", made.name);
        }
    }
}
