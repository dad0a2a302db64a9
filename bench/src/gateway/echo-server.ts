/** The far side of contender (b): answers the bytes it was asked with. */
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";
import { ECHO } from "./echo.ts";

const server = new Server({ "grpc.enable_channelz": 0 });
server.addService(ECHO, {
  echo: (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => answer(null, call.request),
});
server.bindAsync(`127.0.0.1:${process.env.PORT}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
