//! What a ControllerInstallation adds: registration and deployment lead to it, and it leads to its Seed.

use api::garden::ControllerInstallation;
use api::garden::reference::ObjectReference;

use super::{Contributes, Contribution, Edge, VertexKind};

impl Contributes for ControllerInstallation {
    const VERTEX_KIND: VertexKind = VertexKind::ControllerInstallation;

    fn contribution(&self) -> Contribution {
        let own = self.vertex();
        let name = |reference: &ObjectReference| reference.name.clone().unwrap_or_default();
        let (spec, deployment) = (&self.spec, self.spec.deployment_ref.iter());
        let deployment = deployment.map(|reference| VertexKind::ControllerDeployment.named(&name(reference)));
        let registration = VertexKind::ControllerRegistration.named(&name(&spec.registration_ref));
        let seed = VertexKind::Seed.named(&name(&spec.seed_ref));
        let begins = deployment.chain([registration]).map(|begin| Edge::new(begin, &own));
        Contribution::of(begins.chain([Edge::new(own.clone(), &seed)]))
    }
}
