// An agent that keeps its messages in a file: killed.js FILE CONVERSATION
import { writeFileSync } from "node:fs";

import { connect, question, user, whole } from "./toy.js";

const [file, name] = process.argv.slice(2) as [string, string];
const kept = (messages: object) => writeFileSync(file, JSON.stringify(messages));
const messages = [user(question)];
kept(messages);
await using client = connect();
await whole(client, name, messages, { kept });
