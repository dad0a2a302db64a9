"""Asks a Parley service whether it serves, and what it offers."""

import os

import grpc
from health.v1 import health_pb2, health_pb2_grpc
from reflection.v1 import reflection_pb2, reflection_pb2_grpc

with grpc.insecure_channel(os.environ["PARLEY_CONVERSATION_ADDRESS"]) as channel:
    health = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=10)
    print(health_pb2.HealthCheckResponse.ServingStatus.Name(health.status))

    asked = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
    for answer in reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(asked, timeout=10):
        for service in answer.list_services_response.service:
            print(service.name)
