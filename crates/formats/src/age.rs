//! Ages as `kubectl` prints them: at most two units, and only one for most ranges.

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// Formats an age in seconds. More than one second in the future is `<invalid>`.
#[must_use]
pub fn to_string(seconds: i64) -> String {
    match seconds {
        ..=-2 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two_units(seconds, (MINUTE, "m"), (1, "s")),
        600..10_800 => one_unit(seconds, (MINUTE, "m")),
        10_800..28_800 => two_units(seconds, (HOUR, "h"), (MINUTE, "m")),
        28_800..172_800 => one_unit(seconds, (HOUR, "h")),
        172_800..691_200 => two_units(seconds, (DAY, "d"), (HOUR, "h")),
        691_200..63_072_000 => one_unit(seconds, (DAY, "d")),
        63_072_000..252_288_000 => two_units(seconds, (YEAR, "y"), (DAY, "d")),
        _ => one_unit(seconds, (YEAR, "y")),
    }
}

fn one_unit(seconds: i64, (length, unit): (i64, &str)) -> String {
    format!("{}{unit}", seconds / length)
}

fn two_units(seconds: i64, large: (i64, &str), small: (i64, &str)) -> String {
    let rest = seconds % large.0;
    let rest = if rest < small.0 { String::new() } else { one_unit(rest, small) };
    format!("{}{rest}", one_unit(seconds, large))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_ages_have_coarser_units() {
        let table = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (599, "9m59s"),
            (600, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + 61, "3h1m"),
            (8 * HOUR - 1, "7h59m"),
            (8 * HOUR, "8h"),
            (48 * HOUR - 1, "47h"),
            (2 * DAY, "2d"),
            (2 * DAY + 5 * HOUR, "2d5h"),
            (8 * DAY, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (2 * YEAR + 3 * DAY, "2y3d"),
            (8 * YEAR - 1, "7y364d"),
            (8 * YEAR + 3 * DAY, "8y"),
        ];
        for (seconds, wanted) in table {
            assert_eq!(to_string(seconds), wanted, "{seconds}");
        }
    }
}
