//! Changing an object by a patch.

use serde_json::Value;

use crate::call::Call;
use crate::decode;
use crate::notes::Notes;
use crate::patch::Patch;
use crate::reply::Reply;
use crate::state::Shared;
use crate::status::Status;
use crate::verbs::update::{Edit, change};

struct Patched<'a> {
    call: &'a Call,
    patch: Patch,
}

/// Changes an object by the patch in the request's body.
pub(crate) async fn patch(shared: &Shared, call: &Call) -> Result<Reply, Status> {
    let patch = read(shared, call)?;
    change(shared, call, &Patched { call, patch }).await
}

/// The patch of a request.
pub(crate) fn read(shared: &Shared, call: &Call) -> Result<Patch, Status> {
    let resource = &call.target.resource;
    let served = shared.registry.served();
    let ty = if call.target.custom {
        None
    } else {
        served.kinds.type_of(&resource.group, &resource.version, &resource.kind)
    };
    Patch::read(&call.content_type, &call.body, ty)
}

impl Edit for Patched<'_> {
    fn apply(&self, shared: &Shared, current: &Value, notes: &mut Notes) -> Result<Value, Status> {
        decode::patched(shared, self.call, self.patch.apply(current)?, notes)
    }

    fn options(&self) -> &'static str {
        "PatchOptions"
    }
}
