// SPDX-License-Identifier: GPL-3.0-or-later
//
// A stand-in of Flamenco Manager's job compiler: `node flamenco.js SCRIPT` reads a job from standard input, lets the
// script compile it, and prints {job_type, tasks} or {error}. It is as narrow as Flamenco, or narrower: what it has not,
// the script can't use.

"use strict";

const fs = require("fs");
const vm = require("vm");

const plain = (value) => JSON.parse(JSON.stringify(value));

// As the shell lexer that Flamenco uses: quotes, backslashes, and # that begins a word.
function shellSplit(text) {
    if (typeof text !== "string") {
        throw new TypeError("shellSplit needs a string");
    }
    const words = [];
    let word = null;
    for (let i = 0; i < text.length; i++) {
        const letter = text[i];
        if (" \t\r\n".includes(letter)) {
            if (word !== null) {
                words.push(word);
            }
            word = null;
        } else if (letter === "#" && word === null) {
            i = text.indexOf("\n", i);
            if (i < 0) {
                break;
            }
        } else if (letter === "'" || letter === '"') {
            word = word || "";
            for (i++; text[i] !== letter; i++) {
                if (letter === '"' && text[i] === "\\") {
                    i++;
                }
                if (i >= text.length) {
                    throw new Error("EOF found when expecting closing quote");
                }
                word += text[i];
            }
        } else {
            word = (word || "") + (letter === "\\" ? text[++i] || "" : letter);
        }
    }
    return word === null ? words : [...words, word];
}

function required(value, name) {
    if (typeof value !== "string" || value.trim() === "") {
        throw new Error(`author.Task(name, type): ${name} is required`);
    }
    return value.trim();
}

const author = Object.freeze({
    Task(name, type) {
        const task = { name: required(name, "name"), type: required(type, "type"), commands: [], dependencies: [] };
        return Object.freeze({
            task,
            addCommand: (command) => void task.commands.push(plain(command)),
            addDependency: (other) => void task.dependencies.push(other.task.name),
        });
    },
    Command(name, parameters) {
        for (const [key, value] of Object.entries(parameters)) {
            const texts = Array.isArray(value) ? value : [value];
            if (!texts.every((text) => typeof text === "string")) {
                throw new TypeError(`author.Command: ${key} is neither text nor a list of it`);
            }
        }
        return { name: required(name, "name"), parameters: plain(parameters) };
    },
});

function compile(file, submitted) {
    const tasks = [];
    const job = Object.freeze({
        name: submitted.name,
        jobType: submitted.type,
        priority: 50,
        created: new Date(),
        settings: plain(submitted.settings),
        metadata: {},
        addTask: (one) => void tasks.push(plain(one.task)), // as it is now: what is added to it later is lost
    });
    const context = vm.createContext({ author, shellSplit, print: () => {}, alert: () => {} });
    new vm.Script(`"use strict"; ${fs.readFileSync(file, "utf8")}`, { filename: file }).runInContext(context);
    const jobType = plain(vm.runInContext("JOB_TYPE", context));
    try {
        vm.runInContext("compileJob", context)(job);
    } catch (error) {
        return { job_type: jobType, error: `${error.message || error}` };
    }
    return { job_type: jobType, tasks };
}

process.stdout.write(JSON.stringify(compile(process.argv[2], JSON.parse(fs.readFileSync(0, "utf8")))));
