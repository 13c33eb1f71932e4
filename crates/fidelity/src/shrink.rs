//! Shrinks a sequence that shows a difference: removes requests in ever smaller groups, then parameters and fields.

use std::future::Future;

use serde_json::Value;

use crate::request::{Body, Request, Sequence};

/// Removes requests, parameters and fields from a sequence as long as `shows` returns that it still shows the difference. Calls
/// `shows` at most `budget` times.
pub async fn shrink<F, Fut>(sequence: Sequence, mut budget: usize, mut shows: F) -> Sequence
where
    F: FnMut(Sequence) -> Fut,
    Fut: Future<Output = bool>,
{
    let mut smallest = sequence;
    loop {
        let before = smallest.clone();
        let mut run = smallest.requests.len().div_ceil(2);
        while run > 0 {
            smallest = without_runs(smallest, run, &mut budget, &mut shows).await;
            run /= 2;
        }
        for at in 0..smallest.requests.len() {
            // After a removal, the next candidate has the same index; repeat until nothing can be removed.
            let mut skip = 0;
            while let Some(simpler) = simpler(&smallest.requests[at]).into_iter().nth(skip) {
                let mut candidate = smallest.clone();
                candidate.requests[at] = simpler;
                if spend(&mut budget) && shows(candidate.clone()).await {
                    smallest = candidate;
                } else {
                    skip += 1;
                }
                if budget == 0 {
                    return smallest;
                }
            }
        }
        if smallest == before {
            return smallest;
        }
    }
}

async fn without_runs<F, Fut>(sequence: Sequence, run: usize, budget: &mut usize, shows: &mut F) -> Sequence
where
    F: FnMut(Sequence) -> Fut,
    Fut: Future<Output = bool>,
{
    let mut smallest = sequence;
    // From the end, because later requests need earlier ones.
    let mut end = smallest.requests.len();
    while end > 0 {
        let start = end.saturating_sub(run);
        let mut candidate = smallest.clone();
        candidate.requests.drain(start..end);
        if !candidate.requests.is_empty() && spend(budget) && shows(candidate.clone()).await {
            smallest = candidate;
        }
        end = start.min(smallest.requests.len());
    }
    smallest
}

fn spend(budget: &mut usize) -> bool {
    let left = *budget > 0;
    *budget = budget.saturating_sub(1);
    left
}

/// All variants of a request with one thing removed, large things first.
fn simpler(request: &Request) -> Vec<Request> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Request)| {
        let mut simpler = request.clone();
        change(&mut simpler);
        if &simpler != request {
            all.push(simpler);
        }
    };
    for key in request.query.keys().filter(|key| *key != "watch") {
        with(&|request| {
            request.query.remove(key);
        });
    }
    with(&|request| request.accept = None);
    with(&|request| request.user = None);
    match &request.body {
        Some(Body::Json(body)) => {
            for pruned in pruned(body) {
                with(&|request| request.body = Some(Body::Json(pruned.clone())));
            }
        }
        Some(Body::Seen(seen)) => {
            for pointer in seen.set.keys() {
                with(&|request| {
                    if let Some(Body::Seen(seen)) = &mut request.body {
                        seen.set.remove(pointer);
                    }
                });
            }
        }
        _ => {}
    }
    all
}

/// All variants of a value with one field or element removed, those near the root first.
fn pruned(value: &Value) -> Vec<Value> {
    let (mut here, mut below) = (Vec::new(), Vec::new());
    match value {
        Value::Object(map) => {
            for key in map.keys() {
                let mut less = map.clone();
                less.remove(key);
                here.push(Value::Object(less));
                for child in pruned(&map[key]) {
                    let mut changed = map.clone();
                    changed.insert(key.clone(), child);
                    below.push(Value::Object(changed));
                }
            }
        }
        Value::Array(items) => {
            for index in 0..items.len() {
                let mut less = items.clone();
                less.remove(index);
                here.push(Value::Array(less));
                for child in pruned(&items[index]) {
                    let mut changed = items.clone();
                    changed[index] = child;
                    below.push(Value::Array(changed));
                }
            }
        }
        _ => {}
    }
    here.extend(below);
    here
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(path: &str, body: Value) -> Request {
        Request {
            method: "POST".to_owned(),
            path: path.to_owned(),
            body: Some(Body::Json(body)),
            ..Request::default()
        }
    }

    #[tokio::test]
    async fn irrelevant_requests_and_fields_are_removed() {
        let mut requests: Vec<Request> =
            (0..30).map(|n| request(&format!("/{n}"), json!({"x": n}))).collect();
        requests[11] = request("/11", json!({"a": {"b": [1, {"c": 2}], "d": 3}, "e": 4}));
        requests[11].query.insert("dryRun".to_owned(), "All".to_owned());
        let sequence = Sequence { name: "s".to_owned(), requests };
        let matters = |sequence: Sequence| async move {
            let has = |path: &str| sequence.requests.iter().position(|request| request.path == path);
            let c = |request: &Request| match &request.body {
                Some(Body::Json(body)) => {
                    body.pointer("/a/b").is_some_and(|b| b.to_string().contains("\"c\":2"))
                }
                _ => false,
            };
            matches!((has("/3"), has("/11")), (Some(three), Some(at)) if three < at && c(&sequence.requests[at]))
        };
        let shrunk = shrink(sequence, 500, matters).await;
        let want = [request("/3", json!({})), request("/11", json!({"a": {"b": [{"c": 2}]}}))];
        assert_eq!(shrunk.requests, want);
    }

    #[tokio::test]
    async fn the_budget_is_not_exceeded() {
        let requests: Vec<Request> = (0..30).map(|n| request(&format!("/{n}"), json!({"x": n}))).collect();
        let mut calls = 0;
        let shrunk = shrink(Sequence { name: String::new(), requests }, 3, |_| {
            calls += 1;
            async { true }
        })
        .await;
        assert_eq!((calls, shrunk.requests.is_empty()), (3, false));
    }
}
