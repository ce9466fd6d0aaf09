"""Hand out an assignment, collect, grade, return: two commands around nbgrader, safe against what is
handed in.

    python -m grading release NAME           the student's version, which is the book's page too
    python -m grading grade NAME INBOX       a table of grades and a feedback page for each student

What runs where, from the outside in:

    __main__.py   the command line
    release.py    source -> student version; refuses what `leaks.py` finds
    grade.py      inbox -> grades, one student after the other
        inbox.py      who handed in what: a folder, folders, or the zip of Canvas or Moodle
        collect.py    keep every file as received, and lay it where nbgrader looks
        ahead.py      run the next submissions already, one on each core
        report.py     the table, the feedback pages, what was graded by hand
    plugins.py    what the course puts into nbgrader (exercises/nbgrader_config.py names it), calling
        master.py, graft.py    rebuild a submission on the instructor's cells
        execute.py             run its cells and come back, whatever they do
            sandbox.py, processes.py    start a locked-in process; no other process from there
            runner.py                   the only file of ours that runs beside submitted code
    export.py     grades into a column of Canvas' or Moodle's own table
    gradescope.py    the same checks as a Gradescope autograder
"""
