//! Query parameters of writes: dry run, field validation, field manager.

use super::RequestBuilder;
use crate::request::Request;

impl RequestBuilder<'_> {
    /// A write with random query parameters.
    pub(super) fn write(&mut self, method: &str, path: String) -> Request {
        let mut request = Request { method: method.to_owned(), path, ..Request::default() };
        let mut set = |key: &str, value: &str| request.query.insert(key.to_owned(), value.to_owned());
        if self.dice.percent(7) {
            set("dryRun", self.dice.weigh(&[(8, "All"), (1, "Some"), (1, "")]));
        }
        if self.dice.percent(15) {
            set("fieldValidation", self.dice.weigh(&[(5, "Strict"), (3, "Warn"), (3, "Ignore"), (1, "Odd")]));
        }
        if self.dice.percent(20) {
            set(
                "fieldManager",
                self.dice.weigh(&[(5, "first"), (5, "second"), (1, "not\nprintable"), (1, "")]),
            );
        }
        if self.dice.percent(2) {
            request.user = Some("nobody".to_owned());
        }
        request
    }
}
