"""AWS::ElasticLoadBalancingV2::Listener and ListenerCertificate: certificates, policies, weighted actions.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-elasticloadbalancingv2-listener.html
"""

from __future__ import annotations

from typing import Any

from moto.acm.models import CertBundle, acm_backends
from moto.elbv2.exceptions import DuplicateListenerError, ListenerNotFoundError
from moto.elbv2.models import ELBv2Backend, FakeAction, FakeListener, elbv2_backends

from gpu_constructs.local.extend import replace_method
from gpu_constructs.local.services.cloudformation import LocalResource, whole_number
from gpu_constructs.local.services.elbv2.actions import completed
from gpu_constructs.local.services.elbv2.checks import refuse

_SECURE = ("HTTPS", "TLS")
_DEFAULT_POLICY = "ELBSecurityPolicy-2016-08"

_moto_create = ELBv2Backend.create_listener


def install() -> None:
    """Put everything in place; may be called again."""
    replace_method(ELBv2Backend, _create, "create_listener")


def _create(self: ELBv2Backend, load_balancer_arn: str, protocol: str, port: Any, *args: Any, **more: Any) -> Any:
    """Wraps moto's, which compares the port with the ARNs of listeners, and so never finds one that is taken."""
    balancer = self.load_balancers.get(load_balancer_arn)
    if balancer and any(str(one.port) == str(port) for one in balancer.listeners.values()):
        raise DuplicateListenerError
    return _moto_create(self, load_balancer_arn, protocol, port, *args, **more)


class ListenerResource(LocalResource):
    """A listener with its default actions."""

    TYPE = "AWS::ElasticLoadBalancingV2::Listener"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        del name
        self.properties = properties
        port: Any = whole_number(properties.get("Port"))
        certificates = _certificates(self._backend(), properties)
        self.listener: FakeListener = self._backend().create_listener(
            properties["LoadBalancerArn"],
            properties.get("Protocol") or "",
            port,
            _policy(properties),
            certificates[0] if certificates else None,
            completed(properties["DefaultActions"]),
            properties.get("AlpnPolicy"),
        )
        self.listener.attributes.update(_given(properties))
        self.physical_resource_id = self.listener.arn

    def update(self, properties: dict[str, Any]) -> None:
        """In place, but for a listener of another load balancer."""
        if properties["LoadBalancerArn"] != self.properties["LoadBalancerArn"]:
            self.delete()
            self.create("", properties)
            return
        backend, listener = self._backend(), self.listener
        balancer = backend.load_balancers[listener.load_balancer_arn]
        port: Any = whole_number(properties.get("Port"))
        if any(other is not listener and str(other.port) == str(port) for other in balancer.listeners.values()):
            raise DuplicateListenerError
        backend._validate_port_and_protocol(balancer.type, port, properties.get("Protocol"))
        actions = [FakeAction(action) for action in completed(properties["DefaultActions"])]
        backend._validate_actions(actions)
        certificates = _certificates(backend, properties)
        more = [arn for arn in listener.certificates[1:] if arn not in certificates]  # of ListenerCertificates
        listener.certificate = certificates[0] if certificates else None
        listener.certificates = [*certificates, *more]
        listener.port, listener.protocol = port, properties.get("Protocol") or ""
        policy: Any = _policy(properties)
        listener.ssl_policy = policy
        listener.alpn_policy = properties.get("AlpnPolicy") or []
        listener.attributes.update(_given(properties))
        listener.default_actions = listener._default_rule[0].actions = actions
        self.properties = properties

    def delete(self, *_: str) -> None:
        try:
            self._backend().delete_listener(self.physical_resource_id)
        except ListenerNotFoundError:
            return  # it went with its load balancer

    def attributes(self) -> dict[str, Any]:
        return {"ListenerArn": self.listener.arn}

    def _backend(self) -> ELBv2Backend:
        return elbv2_backends[self.account_id][self.region]


class ListenerCertificateResource(LocalResource):
    """Certificates of a listener beside its default one."""

    TYPE = "AWS::ElasticLoadBalancingV2::ListenerCertificate"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.physical_resource_id, self.properties = name, properties
        for entry in properties["Certificates"]:
            _expect(self._backend(), entry["CertificateArn"])
        self._backend().add_listener_certificates(properties["ListenerArn"], properties["Certificates"])

    def delete(self, *_: str) -> None:
        try:
            self._backend().remove_listener_certificates(
                self.properties["ListenerArn"], self.properties["Certificates"]
            )
        except ListenerNotFoundError:
            return

    def _backend(self) -> ELBv2Backend:
        return elbv2_backends[self.account_id][self.region]


def _policy(properties: dict[str, Any]) -> Any:
    """The security policy; none without encryption."""
    if properties.get("Protocol") not in _SECURE:
        return None
    policy = properties.get("SslPolicy") or _DEFAULT_POLICY
    if not policy.startswith("ELBSecurityPolicy-"):
        raise refuse(f"SSL policy '{policy}' not found", "SSLPolicyNotFound")
    return policy


def _certificates(backend: ELBv2Backend, properties: dict[str, Any]) -> list[str]:
    """The listener's own certificate, of which there is one with encryption, and none without."""
    arns = [entry["CertificateArn"] for entry in properties.get("Certificates") or []]
    if properties.get("Protocol") not in _SECURE:
        if arns:
            raise refuse(f"You cannot specify a certificate for {properties.get('Protocol')} listeners")
        return []
    if len(arns) != 1:
        raise refuse(f"A {properties['Protocol']} listener must have exactly one certificate, got {len(arns)}")
    _expect(backend, arns[0])
    return arns


def _expect(backend: ELBv2Backend, arn: str) -> None:
    """A certificate of AWS Certificate Manager that nothing here has issued is taken to be there, as images are."""
    parts = arn.split(":")
    if parts[2] == "iam":
        return
    if parts[2:4] != ["acm", backend.region_name]:
        raise refuse(f"Certificate '{arn}' not found", "CertificateNotFound")
    known = acm_backends[backend.account_id][backend.region_name]._certificates
    if arn not in known:
        certificate = CertBundle.generate_cert("local.invalid", backend.account_id, backend.region_name)
        certificate.arn = arn
        known[arn] = certificate


def _given(properties: dict[str, Any]) -> dict[str, str]:
    return {entry["Key"]: str(entry["Value"]) for entry in properties.get("ListenerAttributes") or []}
