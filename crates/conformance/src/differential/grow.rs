//! Generates random values of a type: they can be decoded, and are often edge cases.

use fastrand::Rng;
use schema::{Shape, Type};
use serde_json::{Map, Value, json};

/// Maximum depth of generated objects.
const DEEPEST: usize = 4;

const TEXTS: [&str; 16] = [
    "",
    "a",
    "app",
    "default",
    "kube-system",
    "true",
    "True",
    "false",
    "1",
    "0",
    "-1",
    "a,b",
    "a.example.com",
    "Über",
    "two words",
    "a-name-that-is-longer-than-the-sixty-three-letters-that-a-label-may-have",
];
const INTEGERS: [i64; 12] = [0, 1, 1, 2, 2, 3, 4, 5, 10, 100, -1, 2_147_483_647];
const QUANTITIES: [&str; 9] = ["0", "1", "100m", "1500m", "2", "1Gi", "128Mi", "0.5", "1e3"];
const TIMES: [&str; 3] = ["2026-03-02T08:20:11Z", "2020-01-01T00:00:00Z", "2031-12-31T23:59:59Z"];
const MICRO_TIMES: [&str; 2] = ["2026-03-02T08:20:11.000000Z", "2020-01-01T00:00:00.500000Z"];
const DURATIONS: [&str; 5] = ["0s", "30s", "1h0m0s", "1m30s", "-1s"];
const BYTES: [&str; 4] = ["", "AAAA", "YQ==", "aHR0cHM6Ly9hLmV4YW1wbGUuY29t"];

/// A random value of the type; objects have all required and some optional fields.
pub(super) fn value(ty: &Type, rng: &mut Rng) -> Value {
    grown(ty, rng, 0)
}

fn grown(ty: &Type, rng: &mut Rng, depth: usize) -> Value {
    if let Some(allowed) = rng.choice(ty.allowed()).filter(|_| rng.u8(..) < 230) {
        return allowed;
    }
    match ty.shape() {
        Shape::Object => object(ty, rng, depth),
        Shape::Map => map(ty, rng, depth),
        Shape::List => {
            let items = ty.items().unwrap_or_else(Type::any);
            let count = if depth < DEEPEST { rng.usize(1..=2) } else { 0 };
            (0..count).map(|_| grown(&items, rng, depth + 1)).collect()
        }
        Shape::String => json!(choose(rng, &TEXTS)),
        Shape::Integer(_) => json!(choose(rng, &INTEGERS)),
        Shape::Number => json!(choose(rng, &[0.0, 0.5, 1.0, 80.25])),
        Shape::Boolean => json!(rng.bool()),
        Shape::IntOrString => {
            if rng.bool() {
                json!(choose(rng, &INTEGERS))
            } else {
                json!(choose(rng, &["25%", "100%", "http"]))
            }
        }
        Shape::Quantity => json!(choose(rng, &QUANTITIES)),
        Shape::Time => json!(choose(rng, &TIMES)),
        Shape::MicroTime => json!(choose(rng, &MICRO_TIMES)),
        Shape::Duration => json!(choose(rng, &DURATIONS)),
        Shape::Bytes => json!(choose(rng, &BYTES)),
        // Untyped values are configurations of other components, which are objects.
        Shape::Any => json!({"kind": choose(rng, &TEXTS)}),
    }
}

fn object(ty: &Type, rng: &mut Rng, depth: usize) -> Value {
    let mut fields = Map::new();
    for field in ty.fields() {
        let wanted = field.required || (depth < DEEPEST && rng.u8(..) < 50);
        if wanted && depth <= DEEPEST {
            fields.insert(field.name.clone(), grown(&field.ty, rng, depth + 1));
        }
    }
    Value::Object(fields)
}

fn map(ty: &Type, rng: &mut Rng, depth: usize) -> Value {
    let values = ty.values().unwrap_or_else(Type::any);
    let key = choose(rng, &["a", "app", "example.com/key"]).to_owned();
    Value::Object(Map::from_iter([(key, grown(&values, rng, depth + 1))]))
}

fn choose<T: Copy>(rng: &mut Rng, values: &[T]) -> T {
    values[rng.usize(..values.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::Kinds;

    /// Whether a value can be decoded as the type.
    fn fits(ty: &Type, value: &Value) -> bool {
        match (ty.shape(), value) {
            (Shape::Object, Value::Object(fields)) => {
                fields.iter().all(|(name, value)| ty.field(name).is_some_and(|field| fits(&field.ty, value)))
            }
            (Shape::Map, Value::Object(fields)) => {
                let values = ty.values().unwrap();
                fields.values().all(|value| fits(&values, value))
            }
            (Shape::List, Value::Array(items)) => {
                let item = ty.items().unwrap();
                items.iter().all(|value| fits(&item, value))
            }
            (Shape::Integer(_) | Shape::Number, value) => value.is_number(),
            (Shape::Boolean, value) => value.is_boolean(),
            (Shape::IntOrString, value) => value.is_string() || value.is_number(),
            (Shape::Any, value) => value.is_object(),
            (_, value) => value.is_string(),
        }
    }

    #[test]
    fn generated_values_fit_the_type_and_depend_only_on_the_seed() {
        for (group, kind) in [("", "Pod"), ("apps", "Deployment"), ("", "Node")] {
            let ty = Kinds::gardener().type_of(group, "v1", kind).unwrap();
            for seed in 0..50 {
                let made = || value(&ty, &mut Rng::with_seed(seed));
                assert!(fits(&ty, &made()), "{kind} {seed}: {}", made());
                assert_eq!(made(), made());
            }
        }
    }
}
