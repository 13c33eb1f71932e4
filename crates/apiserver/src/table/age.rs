//! Ages as kubectl shows them: at most two units, the finer one only for small ages.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// The age of a time; `<unknown>` if there is none.
pub(super) fn since(time: Option<&Value>, now: Timestamp) -> Value {
    let then = time.and_then(Value::as_str).and_then(|text| text.parse::<Timestamp>().ok());
    then.map_or_else(|| "<unknown>".into(), |then| human(now.duration_since(then)).into())
}

/// `5s`, `3m20s`, `47m`, `5h12m`, `30h`, `3d5h`, `400d`, `3y20d`.
pub(super) fn human(age: SignedDuration) -> String {
    let seconds = age.as_secs();
    let (minutes, hours, days, years) =
        (seconds / 60, seconds / 3600, seconds / 86_400, seconds / 86_400 / 365);
    match seconds {
        ..=-2 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, 'm', seconds % 60, 's'),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, 'h', minutes % 60, 'm'),
        _ if hours < 48 => format!("{hours}h"),
        _ if days < 8 => two(days, 'd', hours % 24, 'h'),
        _ if years < 2 => format!("{days}d"),
        _ if years < 8 => two(years, 'y', days % 365, 'd'),
        _ => format!("{years}y"),
    }
}

fn two(coarse: i64, coarse_unit: char, fine: i64, fine_unit: char) -> String {
    if fine == 0 {
        format!("{coarse}{coarse_unit}")
    } else {
        format!("{coarse}{coarse_unit}{fine}{fine_unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        const DAY: i64 = 86_400;
        let table = [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (201, "3m21s"),
            (600, "10m"),
            (3 * 3600, "3h"),
            (5 * 3600 + 720, "5h12m"),
            (30 * 3600, "30h"),
            (3 * DAY + 5 * 3600, "3d5h"),
            (400 * DAY, "400d"),
            (2 * 365 * DAY + DAY, "2y1d"),
            (9 * 365 * DAY, "9y"),
        ];
        for (seconds, want) in table {
            assert_eq!(human(SignedDuration::from_secs(seconds)), want, "{seconds}");
        }
    }
}
