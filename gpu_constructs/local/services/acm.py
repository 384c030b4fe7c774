"""AWS Certificate Manager of the local AWS: certificates from CloudFormation, issued at once.

AWS waits until whoever owns the domain has shown it, by DNS or by mail; here nobody is asked, and what is issued is
signed by nobody that a client would trust.
"""

from __future__ import annotations

from typing import Any

from moto.acm.models import AWSCertificateManagerBackend, acm_backends

from gpu_constructs.local.services.cloudformation import LocalResource


def install() -> None:
    """Nothing to put in place: the CloudFormation type is found by its name."""


class CertificateResource(LocalResource):
    """AWS::CertificateManager::Certificate."""

    TYPE = "AWS::CertificateManager::Certificate"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        backend = self._backend()
        self.physical_resource_id = backend.request_certificate(
            domain_name=properties["DomainName"],
            idempotency_token=name,
            subject_alt_names=list(properties.get("SubjectAlternativeNames") or []),
            tags=list(properties.get("Tags") or []),
        )
        backend.get_certificate(self.physical_resource_id).status = "ISSUED"

    def delete(self, *_: str) -> None:
        self._backend().delete_certificate(self.physical_resource_id)

    def attributes(self) -> dict[str, Any]:
        return {"CertificateArn": self.physical_resource_id}

    def _backend(self) -> AWSCertificateManagerBackend:
        return acm_backends[self.account_id][self.region]
