//! The distance between regions by their names: edits, and the orientation (`north`, `south`, …) in them.

/// Orientations, in the order in which they are looked for.
const ORIENTATIONS: [&str; 5] = ["north", "south", "east", "west", "central"];

/// The distance between two regions: twice the edits between their names without orientations, 2 more if these differ,
/// 1 more if one has none. SCH-NAM-001.
pub(super) fn between(a: &str, b: &str) -> i64 {
    let ((a, orientation_a), (b, orientation_b)) = (split(a), split(b));
    let more = match (orientation_a, orientation_b) {
        (None, None) => 0,
        (Some(a), Some(b)) if a == b => 0,
        (Some(_), Some(_)) => 2,
        _ => 1,
    };
    i64::try_from(edits(&a, &b)).unwrap_or(i64::MAX / 4) * 2 + more
}

/// The name with its orientation replaced by a colon, and the orientation.
fn split(name: &str) -> (String, Option<&'static str>) {
    let found = ORIENTATIONS.into_iter().find(|orientation| name.contains(orientation));
    (found.map_or_else(|| name.to_owned(), |orientation| name.replacen(orientation, ":", 1)), found)
}

/// How many code points must be inserted, deleted or replaced to make one text the other.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (number, own) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], number + 1);
        for (at, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(own != *other);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("europe", "asia", 12)]
    #[case("europe-west", "asia-west", 12)]
    #[case("europe-west", "asia-east", 14)]
    #[case("europe-west", "asia-:", 13)]
    #[case("europe-west", "asia", 17)]
    #[case("europe-west", "europe-east", 2)]
    #[case("europe-west", "europe-:", 1)]
    #[case("europe-west", "europe-west", 0)]
    #[case("europe-north1", "europe-west3", 4)]
    #[case("europe-west1", "europe-west3", 2)]
    #[case("asia-south1", "europe-west3", 16)]
    #[case("eu-de-200", "eu-de-2", 4)]
    #[case("eu-nl-1", "eu-de-2", 6)]
    #[case("eu-de-2111", "eu-de-2xzxzzx", 12)]
    #[case("eu-de-200", "eu-de-2xzxzzx", 12)]
    #[case("eu-nl-1", "eu-de-2xzxzzx", 18)]
    #[case("eu-de-200", "eu-de-20", 2)]
    #[case("eu-de-2111", "eu-de-20", 6)]
    #[case("eu-west-1", "eu-central-1", 2)]
    #[case("eu-west-1", "us-west-1", 4)]
    #[case("ap-southeast-1", "ap-southeast-2", 2)]
    #[case("ap-southeast-1", "ap-northeast-1", 2)]
    #[case("us-northeast-1", "us-east-1", 10)]
    #[case("us-southeast-1", "us-northwest-1", 6)]
    #[case("germanywestcentral", "germanynorth", 16)]
    #[case("", "eu-west-1", 13)]
    fn distances_are_those_of_the_original(#[case] a: &str, #[case] b: &str, #[case] want: i64) {
        assert_eq!((between(a, b), between(b, a)), (want, want));
    }

    #[rstest]
    #[case("west_europe", ":_europe", Some("west"))]
    #[case("europe-west", "europe-:", Some("west"))]
    #[case("middle-west-europe", "middle-:-europe", Some("west"))]
    #[case("southeast", ":east", Some("south"))]
    #[case("germanywestcentral", "germany:central", Some("west"))]
    #[case("West", "West", None)]
    #[case("westwest", ":west", Some("west"))]
    fn the_first_orientation_of_the_list_counts(
        #[case] name: &str,
        #[case] base: &str,
        #[case] orientation: Option<&'static str>,
    ) {
        assert_eq!(split(name), (base.to_owned(), orientation));
    }

    #[test]
    fn edits_are_counted_in_code_points() {
        assert_eq!((edits("", "äöü"), edits("größe", "grösse"), edits("abc", "abc")), (3, 2, 0));
    }
}
