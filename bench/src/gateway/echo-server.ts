/** The server of contender (b), which returns the bytes of the request. */
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";
import { ECHO } from "./echo.ts";

const server = new Server({ "grpc.enable_channelz": 0 });
server.addService(ECHO, {
  echo: (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => answer(null, call.request),
});
server.bindAsync(`127.0.0.1:${process.env.PORT}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
