// SPDX-License-Identifier: GPL-3.0-or-later
//
// A job type for Flamenco 3: bakes the .blend files of a folder, some at a time. See docs/automate/farm.md.

const JOB_TYPE = {
    label: "TCB Bake",
    description: "Bake the TCB animation of the .blend files of a folder, into another folder",
    settings: [
        { key: "folder", type: "string", subtype: "dir_path", required: true, visible: "submission",
          eval: "str(abspath('//'))",
          evalInfo: { showLinkButton: false, description: "Folder of this file" },
          description: "Folder of the .blend files, on storage that the workers share" },
        { key: "pattern", type: "string", default: "*.blend", visible: "submission",
          description: "Which files of the folder; **/*.blend takes those in its subfolders too" },
        // The Manager, where compileJob runs, can't list folders; Blender, where the job is submitted, can. A generator
        // expression in an eval sees only its first iterable: hence what it needs comes in through that.
        { key: "files", type: "string", required: true,
          eval: "__import__('shlex').join(sorted(file.relative_to(folder).as_posix()" +
                " for folder, pattern, output in" +
                " [(abspath(settings.folder), settings.pattern or '*.blend', abspath(settings.output or '//'))]" +
                " for file in folder.glob(pattern)" +
                " if file.is_file() and file.suffix == '.blend' and not file.name.startswith('.')" +
                " and not file.name.endswith('.flamenco.blend')" +
                " and (output == folder or output not in file.parents)))",
          evalInfo: { showLinkButton: true, description: "All that match, when the job is submitted" },
          description: "Names within the folder, separated by spaces; those that hold spaces in quotes" },
        { key: "output", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder of the results, in which subfolders are kept. It is made if it isn't there" },
        { key: "chunk_size", type: "int32", default: 10, propargs: { min: 1 }, visible: "submission",
          description: "So many files are one task" },
        { key: "step", type: "float", default: 1.0, propargs: { min: 0.001 },
          description: "Frames between samples" },
        { key: "objects", type: "string", default: "",
          description: "Only the objects of this name; * and ? stand for any characters. Empty: all" },
        { key: "skip_done", type: "bool", default: true,
          description: "Leave out files whose result is there and would come out the same" },
        { key: "extra_arguments", type: "string", default: "",
          description: "More options of `tcb bake`, as in a shell: --tension 0.3 --extend 1 100" },
        // Blender's own way to write a path, //shots, means something only where the job is submitted.
        { key: "folder_path", type: "string", subtype: "dir_path", visible: "web",
          eval: "str(abspath(settings.folder)) if settings.folder else ''",
          description: "Folder of the .blend files" },
        { key: "output_path", type: "string", subtype: "dir_path", visible: "web",
          eval: "str(abspath(settings.output)) if settings.output else ''",
          description: "Folder of the results" },
    ],
};

function compileJob(job) {
    const settings = settingsOf(job);
    const folder = absolute(settings, "folder");
    const output = absolute(settings, "output");
    const names = namesOf(settings, folder);
    refuseReplacing(names, folder, output);

    const chunkSize = Number(settings.chunk_size);
    if (!(chunkSize >= 1)) {
        throw new Error(`chunk_size is ${settings.chunk_size}: a task needs a file`);
    }
    for (let first = 0; first < names.length; first += chunkSize) {
        job.addTask(bakeTask(names.slice(first, first + chunkSize), folder, output, settings));
    }
}

function bakeTask(names, folder, output, settings) {
    const last = names.length > 1 ? ` to ${names[names.length - 1]}` : "";
    const task = author.Task(`bake ${names[0]}${last}`, "blender");
    const files = names.map((name) => join(folder, name));
    const options = ["--output", output, "--relative-to", folder, "--step", `${settings.step}`];
    if (settings.objects) {
        options.push(`--objects=${settings.objects}`);
    }
    if (settings.skip_done) {
        options.push("--skip-done");
    }
    // Of the workers' commands this one knows how to find a Blender. {blenderArgs} stays out: it is for rendering.
    task.addCommand(author.Command("blender-render", {
        exe: "{blender}",
        argsBefore: ["--command", "tcb", "bake"],
        blendfile: files[0],
        args: [...files.slice(1), ...options, ...shellSplit(settings.extra_arguments)],
    }));
    return task;
}

// What was submitted; a job that comes through the web API may leave out what has a default.
function settingsOf(job) {
    const settings = {};
    for (const { key, default: otherwise } of JOB_TYPE.settings) {
        const value = job.settings[key];
        settings[key] = value === undefined || value === null ? otherwise : value;
    }
    return settings;
}

function absolute(settings, key) {
    const folder = settings[`${key}_path`] || settings[key] || "";
    // A path may begin with a variable of Flamenco's, {shared}.
    if (!/^([/\\{]|[A-Za-z]:[/\\])/.test(folder)) {
        throw new Error(`${key} "${folder}" is not an absolute path`);
    }
    return folder;
}

function namesOf(settings, folder) {
    const names = shellSplit(settings.files || "").map((name) => name.replace(/\\/g, "/"));
    if (names.length === 0) {
        throw new Error(`no .blend file in ${folder} matches ${settings.pattern || "*.blend"}`);
    }
    for (const name of names) {
        if (/^(\/|\{|[A-Za-z]:)/.test(name) || name.split("/").includes("..")) {
            throw new Error(`"${name}" is not a name within ${folder}`);
        }
    }
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) {
        throw new Error(`"${twice}" is there twice`);
    }
    return names;
}

function refuseReplacing(names, folder, output) {
    const read = new Map(names.map((name) => [comparable(join(folder, name)), name]));
    for (const name of names) {
        const replaced = read.get(comparable(join(output, name)));
        if (replaced !== undefined) {
            throw new Error(`output "${output}" would replace ${replaced}, which is read: choose another folder`);
        }
    }
}

// Unlike path.join this keeps the two slashes that a network path begins with.
function join(folder, name) {
    return name === "" ? folder : `${folder.replace(/[/\\]+$/, "")}/${name}`;
}

// On some systems small letters and capitals make no difference.
function comparable(path) {
    const parts = [];
    for (const part of path.replace(/\\/g, "/").toLowerCase().split("/")) {
        if (part === "..") {
            parts.pop();
        } else if (part !== "" && part !== ".") {
            parts.push(part);
        }
    }
    return parts.join("/");
}
