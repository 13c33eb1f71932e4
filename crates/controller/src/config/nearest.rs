//! Finds the known name that is most similar to a misspelt one.

/// The most similar known name, if it is similar enough to be the intended one.
pub(super) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let lower = name.to_lowercase();
    known
        .iter()
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), *candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Edit distance: characters to add, drop, replace or swap with their neighbour (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in table.iter_mut().enumerate() {
        row[0] = i;
    }
    table[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(table[i - 2][j - 2] + 1);
            }
            table[i][j] = least;
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["tokenInvalidator", "tokenRequestor", "health", "qps", "namespaces"];
        let table = [
            ("tokenValidator", Some("tokenInvalidator")),
            ("tokenrequestor", Some("tokenRequestor")),
            ("heath", Some("health")),
            ("namespace", Some("namespaces")),
            ("QPS", Some("qps")),
            ("qsp", Some("qps")),
            ("burst", None),
            ("", None),
        ];
        for (name, want) in table {
            assert_eq!(nearest(name, &known), want, "{name}");
        }
    }
}
