//! Ranges of versions of a target: `>=1.58`, `>=1.58, <1.82`, `1.61`.

/// Whether the range covers the version; a version that is none is covered, since nothing speaks against it.
pub(super) fn covers(range: &str, version: &str) -> bool {
    let Some(version) = parts(version) else { return true };
    range.split(',').all(|bound| holds(bound.trim(), version))
}

fn holds(bound: &str, version: [u64; 3]) -> bool {
    let at = bound.find(|letter: char| letter == 'v' || letter.is_ascii_digit()).unwrap_or(bound.len());
    let Some(limit) = parts(&bound[at..]) else { return true };
    let dots = bound[at..].matches('.').count();
    match bound[..at].trim() {
        ">=" => version >= limit,
        ">" => version > limit,
        "<" => version < limit,
        "<=" => version <= limit,
        "!=" => version != limit,
        _ => version[..=dots.min(2)] == limit[..=dots.min(2)],
    }
}

/// Major, minor and patch; what follows a dash or plus does not count.
fn parts(version: &str) -> Option<[u64; 3]> {
    let plain = version.trim().trim_start_matches('v').split(['-', '+']).next()?;
    let mut parts = [0; 3];
    for (at, part) in plain.split('.').take(3).enumerate() {
        parts[at] = part.parse().ok()?;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_versions() {
        let table = [
            (">=1.58", "v1.82.0", true),
            (">=1.58", "v1.57.9", false),
            (">=1.58, <1.82", "v1.82.0", false),
            (">=1.58, <1.82", "v1.81.3-dev", true),
            ("1.61", "v1.61.4", true),
            ("1.61", "v1.62.0", false),
            ("!=1.61.0", "v1.61.0", false),
            (">=1.58", "unknown", true),
        ];
        for (range, version, want) in table {
            assert_eq!(covers(range, version), want, "{range} {version}");
        }
    }
}
