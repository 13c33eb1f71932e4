//! Default values of single fields; a zero and an empty text count as missing.

/// Fills in level and format of the log.
pub fn set_log(level: &mut String, format: &mut String) {
    set_text(level, "info");
    set_text(format, "json");
}

/// Fills in a text that is missing.
pub fn set_text(field: &mut String, text: &str) {
    if field.is_empty() {
        text.clone_into(field);
    }
}

/// Fills in a number that is missing.
pub fn set_number(field: &mut i64, number: i64) {
    if *field == 0 {
        *field = number;
    }
}
