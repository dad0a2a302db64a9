// Preloaded by tests into servers of others that listen on all addresses: they listen on loopback only.
import http from "node:http";

type Listen = (this: http.Server, port: number, host: string, listening?: () => void) => http.Server;

const listen = http.Server.prototype.listen as Listen;
http.Server.prototype.listen = function (this: http.Server, port: number, listening?: () => void) {
  return listen.call(this, port, "127.0.0.1", listening);
} as typeof http.Server.prototype.listen;
