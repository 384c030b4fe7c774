"""WAF of the local AWS: which web ACL is in front of what is recorded; nothing is filtered."""

from __future__ import annotations

from typing import Any

from moto.elbv2.models import elbv2_backends
from moto.wafv2.models import WAFV2Backend, wafv2_backends

from gpu_constructs.local.services.cloudformation import LocalResource


def install() -> None:
    """Nothing to put in place: the CloudFormation type is found by its name."""


class UnavailableError(Exception):
    """What is to be protected is not there."""


class WebAclAssociationResource(LocalResource):
    """AWS::WAFv2::WebACLAssociation; a web ACL that is not known here is taken to be there, as images are."""

    TYPE = "AWS::WAFv2::WebACLAssociation"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        del name
        resource, acl = properties["ResourceArn"], properties["WebACLArn"]
        load_balancers = elbv2_backends[self.account_id][self.region].load_balancers
        if ":loadbalancer/" in resource and resource not in load_balancers:
            raise UnavailableError(f"AWS WAF couldn't retrieve the resource that you requested: {resource}")
        if ":loadbalancer/net/" in resource:
            raise UnavailableError("A web ACL can be associated with application load balancers only")
        self.resource_arn, self.acl_arn = resource, acl
        self.physical_resource_id = f"{resource}|{acl}"
        if acl in self._backend().wacls:
            self._backend().associate_web_acl(acl, resource)

    def delete(self, *_: str) -> None:
        self._backend().disassociate_web_acl(self.resource_arn)

    def _backend(self) -> WAFV2Backend:
        return wafv2_backends[self.account_id][self.region]
