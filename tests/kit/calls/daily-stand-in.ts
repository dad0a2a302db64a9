import { eventually } from "@parley/testkit/eventually";

/** A room as the stand-in reports it. */
export interface StandInRoom {
  room_name: string;
  is_deleted: boolean;
  participants: { id: string; user_id: string | null; user_name: string }[];
  is_agent_here: boolean;
  said_lines: number;
  heard_ms: number;
}

/** The people in the rooms of the stack's stand-in for Daily. */
export interface DailyPeople {
  /** A person enters with a token, talks and leaves. */
  join(roomName: string, token: string, behavior?: { say?: string[]; leave_after_ms?: number }): Promise<string>;
  leave(roomName: string, participantId: string): Promise<void>;
  room(roomName: string): Promise<StandInRoom>;
  /** Waits until a room is deleted. */
  deleted(roomName: string): Promise<StandInRoom>;
}

const WITHIN_MS = 60_000;

/** @param address host:port */
export function dailyPeople(address: string): DailyPeople {
  const send = async (path: string, body?: object) => {
    const response = await fetch(`http://${address}/control/rooms/${path}`, {
      method: body ? "POST" : "GET",
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${text}`);
    return JSON.parse(text);
  };
  return {
    join: async (roomName, token, behavior = {}) =>
      (await send(`${roomName}/join`, { token, ...behavior })).participant_id,
    leave: async (roomName, participantId) => void (await send(`${roomName}/leave`, { participant_id: participantId })),
    room: (roomName) => send(roomName),
    deleted: (roomName) =>
      eventually(async () => {
        const room: StandInRoom = await send(roomName);
        if (!room.is_deleted) throw new Error("the room is there");
        return room;
      }, WITHIN_MS),
  };
}
